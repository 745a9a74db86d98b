import { Approval } from '@agent-server/schemas/approval.ts'
import { RUN_OUTCOME } from '@agent-server/schemas/chat.ts'
import { Hit } from '@agent-server/schemas/query.ts'
import { z } from 'zod'
import type { RunEnd } from './agent-event.ts'
import { toRunExtras } from './run-extras.ts'

/** The field `agent` by which protocols of others are extended. */
export const AgentExtra = z
  .object({
    hits: z.array(Hit).describe('The retrieved chunks.'),
    approval: Approval.optional().describe(
      'Calls that wait for approval; absent if there are none.',
    ),
    ...RUN_OUTCOME,
  })
  .meta({
    id: 'AgentExtra',
    description:
      'Extension of the protocol. `[n]` in the answer cites the n-th of the retrieved chunks.',
  })

export function toAgentExtra(end: RunEnd) {
  return { ...toRunExtras(end), ...(end.approval && { approval: end.approval }) }
}
