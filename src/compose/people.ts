import { createEncryption } from '@agent-server/lib/encrypted.ts'
import {
  type AccessTokens,
  createAccessTokens,
  createCompanySignIn,
  createIssuer,
  type Issuer,
} from '@agent-server/oidc'
import type { OpenedStore } from '@agent-server/stores'
import type { Config } from '../config.ts'
import { createCompanyAccounts } from '../operator/people/company-accounts.ts'
import { createPeople, type People } from '../operator/people/people.ts'
import { createPeopleAdmin } from '../operator/people/people-admin.ts'
import { createPersonSessions } from '../operator/people/person-sessions.ts'
import type { CorpusSide } from './corpus.ts'

/** Who the people are that keys and the company's issuer let in. */
export function composePeople(
  config: Config,
  store: Pick<OpenedStore, 'people' | 'sessions' | 'conversations'>,
  corpus: Pick<CorpusSide, 'conversationDeleted' | 'giveDocument'>,
) {
  const issuer = issuerOf(config)
  const tokens = issuer && createAccessTokens(issuer)
  const people = createPeople({ store: store.people, tokens })
  return {
    people,
    company: issuer && tokens && companyOf({ config, store, issuer, tokens, people }),
    admin: createPeopleAdmin({
      store: store.people,
      conversations: store.conversations,
      conversationDeleted: corpus.conversationDeleted,
      giveDocument: corpus.giveDocument,
      people,
    }),
  }
}

export type PeopleSide = ReturnType<typeof composePeople>

/** Undefined where only keys let in. */
function issuerOf(config: Config): Issuer | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID: clientId } = config
  if (OIDC_ISSUER === undefined || clientId === undefined) return undefined
  return createIssuer({
    issuer: OIDC_ISSUER,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    audience: config.OIDC_AUDIENCE ?? clientId,
    takesIdTokens: config.OIDC_AUDIENCE === clientId,
    scopes: config.OIDC_SCOPES,
    subjectClaim: config.OIDC_SUBJECT_CLAIM,
    groupsClaim: config.OIDC_GROUPS_CLAIM,
    adminGroup: config.OIDC_ADMIN_GROUP,
    requiredClaim: config.OIDC_REQUIRED_CLAIM,
  })
}

interface CompanyParts {
  config: Config
  store: Pick<OpenedStore, 'sessions'>
  issuer: Issuer
  tokens: AccessTokens
  people: People
}

function companyOf({ config, store, issuer, tokens, people }: CompanyParts) {
  const { SERVER_API_KEY: serverApiKey, OIDC_ADMIN_GROUP } = config
  const signIn = createCompanySignIn(issuer)
  const realm = JSON.stringify([issuer.settings.issuer, issuer.settings.clientId])
  const sessions = createPersonSessions({
    store: store.sessions,
    signIn,
    people,
    encryption: createEncryption(serverApiKey, `tokens of sessions ${realm}`),
    serverApiKey,
    realm,
    adminGroup: OIDC_ADMIN_GROUP,
  })
  return createCompanyAccounts({
    signIn,
    tokens,
    sessions,
    store: store.sessions,
    encryption: createEncryption(serverApiKey, `sign-in ${realm}`),
  })
}
