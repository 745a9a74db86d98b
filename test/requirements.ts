import { ADMIN } from './requirements/admin.ts'
import { DECISIONS } from './requirements/decisions.ts'
import { SEVERAL_SERVERS } from './requirements/several-servers.ts'
import { SPECIFICATION } from './requirements/specification.ts'
import { WEB_UI } from './requirements/web-ui.ts'

export interface Requirement {
  id: string
  /** Where it is said. */
  source: string
  /** One sentence, true of every release of this version. */
  says: string
}

type Section = Readonly<Record<string, string>>
type IdIn<Sections> = Extract<
  { [Source in keyof Sections]: keyof Sections[Source] }[keyof Sections],
  string
>

export type RequirementId =
  | IdIn<typeof SPECIFICATION>
  | IdIn<typeof DECISIONS>
  | IdIn<typeof ADMIN>
  | IdIn<typeof WEB_UI>
  | IdIn<typeof SEVERAL_SERVERS>

/** Every behaviour that the specification and the design require of this version; each has a test. */
export const REQUIREMENTS: readonly Requirement[] = Object.entries<Section>({
  ...SPECIFICATION,
  ...DECISIONS,
  ...ADMIN,
  ...WEB_UI,
  ...SEVERAL_SERVERS,
}).flatMap(([source, section]) =>
  Object.entries(section).map(([id, says]) => ({ id, source, says })),
)

declare module 'vitest' {
  interface TaskMeta {
    verifies?: readonly RequirementId[]
  }
}

/** The second argument of a test or a suite that proves these requirements. */
export function verifies(...ids: [RequirementId, ...RequirementId[]]) {
  return { meta: { verifies: ids } }
}
