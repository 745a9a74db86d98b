import type { OpenLedger } from '../../stores/ledger.ts'
import type { SkillCopies } from '../../stores/skill-copies.ts'
import { MCP_LEDGER, McpPins, NO_PINS } from '../mcp/pins.ts'

export interface Accepted {
  openLedger: OpenLedger
  skillCopies: SkillCopies
}

/**
 * Brings what was accepted of MCP servers, and of these sources of skills, to where servers share it: whoever saw them
 * for the first time there would accept whatever they are by then. What was accepted there already stays.
 */
export async function moveAccepted(
  from: Accepted,
  to: Accepted,
  sources: readonly string[],
): Promise<void> {
  const pins = await (await from.openLedger(MCP_LEDGER, McpPins, NO_PINS)).read()
  if (Object.keys(pins.connections).length > 0) {
    const ledger = await to.openLedger(MCP_LEDGER, McpPins, NO_PINS)
    await ledger.update(({ version, connections }) => ({
      version,
      connections: { ...pins.connections, ...connections },
    }))
  }
  for (const source of sources) {
    const copy = await from.skillCopies.read(source)
    if (copy) await to.skillCopies.keep(source, copy, undefined)
  }
}
