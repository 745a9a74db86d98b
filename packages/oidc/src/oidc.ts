export { type AccessTokens, createAccessTokens, isJwt } from './access-tokens.ts'
export { createIssuer, type Issuer, unavailable } from './issuer.ts'
export type { DescribedPerson } from './person.ts'
export { type CompanySignIn, createCompanySignIn, type SignedIn } from './sign-in.ts'
