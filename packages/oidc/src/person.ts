import { AppError } from '@agent-server/lib/errors.ts'
import {
  MAX_GROUP_LENGTH,
  MAX_GROUPS,
  MAX_PERSON_LENGTH,
  type Person,
} from '@agent-server/schemas/operator/api-key.ts'
import { z } from 'zod'

export interface PersonSettings {
  /** The claim that never changes for a person. */
  subjectClaim: string
  /** The claim with the names or ids of groups; a path with dots for one within others. */
  groupsClaim: string
  /** Whose members are administrators. */
  adminGroup?: string | undefined
  /** As `claim=value`: only whose token has it is let in. */
  requiredClaim?: string | undefined
}

/** Somebody as a token or a program describes them. */
export interface DescribedPerson {
  person: Person
  /** For people to read alone: addresses are given to others. */
  email: string | undefined
}

type Claims = Readonly<Record<string, unknown>>

const CONTROL = /\p{Cc}/u
/** Two texts that differ name two people: nothing is made equal here. */
const isPlain = (text: string) =>
  text.isWellFormed() && text.normalize('NFC') === text && !CONTROL.test(text)
const Subject = z
  .string()
  .min(1)
  .max(MAX_PERSON_LENGTH)
  .refine((text) => isPlain(text) && text.trim() === text)
const Group = z.string().min(1).max(MAX_GROUP_LENGTH).refine(isPlain)
const Groups = z.union([z.array(Group).max(MAX_GROUPS), Group.transform((group) => [group])])

/** Throws `unauthorized` without a subject, and `groups_unknown` if the token does not say all of the groups. */
export function personOf(claims: Claims, settings: PersonSettings): DescribedPerson {
  const subject = Subject.safeParse(claims[settings.subjectClaim])
  if (!subject.success) {
    const message = `The token has no usable claim "${settings.subjectClaim}", which says who you are`
    throw new AppError('unauthorized', message)
  }
  checkRequired(claims, settings.requiredClaim)
  const groups = groupsIn(claims, settings.groupsClaim)
  return {
    person: {
      id: `user:${subject.data}`,
      name: shown(claims.name) ?? shown(claims.preferred_username) ?? shown(claims.email),
      groups,
      isAdministrator: settings.adminGroup !== undefined && groups.includes(settings.adminGroup),
    },
    email: shown(claims.email),
  }
}

function checkRequired(claims: Claims, required: string | undefined): void {
  if (required === undefined) return
  const [name = '', value] = required.split(/=(.*)/s)
  if ([claimAt(claims, name)].flat().includes(value)) return
  throw new AppError('unauthorized', `The token has no claim "${name}" that lets you in here`)
}

/** Whether the claims say which groups there are, or that there are too many to say. */
export function tellsGroups(claims: Claims, { groupsClaim }: PersonSettings): boolean {
  return claimAt(claims, groupsClaim) !== undefined || isOverflow(claims, groupsClaim)
}

function groupsIn(claims: Claims, name: string): string[] {
  if (isOverflow(claims, name)) throw unknownGroups(TOO_MANY)
  const groups = Groups.safeParse(claimAt(claims, name) ?? [])
  if (!groups.success) throw unknownGroups(`the claim "${name}" does not hold up to ${BOUNDS}`)
  return [...new Set(groups.data)]
}

const BOUNDS = `${MAX_GROUPS} names of up to ${MAX_GROUP_LENGTH} characters`
const TOO_MANY = 'you are in more groups than a token of your issuer names'

/**
 * Names alone count as none would take rights away, and, where a group is refused something, give some. Entra says so
 * in place of more than 200 groups.
 */
function isOverflow(claims: Claims, name: string): boolean {
  const elsewhere = z.record(z.string(), z.unknown()).safeParse(claims._claim_names)
  return Object.hasOwn(elsewhere.data ?? {}, name) || claims.hasgroups === true
}

export function unknownGroups(why: string): AppError {
  const message = `Your groups are not known: ${why}. An administrator of your company’s accounts can have only the groups of this application put into tokens (Entra: “Groups assigned to the application”), or roles, with OIDC_GROUPS_CLAIM=roles.`
  return new AppError('groups_unknown', message)
}

/** A claim by its name, or by its path: Keycloak has `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  const within = (value: unknown, part: string) => {
    const fields = z.record(z.string(), z.unknown()).safeParse(value).data
    return fields && Object.hasOwn(fields, part) ? fields[part] : undefined
  }
  return name.split('.').reduce<unknown>(within, claims)
}

const MAX_SHOWN = 200

/** A text of others that is safe to show in one line. */
function shown(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return line === '' ? undefined : line.slice(0, MAX_SHOWN).toWellFormed()
}
