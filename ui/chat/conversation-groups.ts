import type { Conversation } from '../../packages/client/src/agent-server.ts'

interface Group {
  name: string
  conversations: Conversation[]
}

/** Groups by the days since the last change, in the order in which they are given: the newest first. */
export function groupByDay(conversations: readonly Conversation[], now = new Date()): Group[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const groups: Group[] = []
  for (const conversation of conversations) {
    const name = nameOf(conversation.updated_at * 1_000, midnight)
    const last = groups.at(-1)
    if (last?.name === name) last.conversations.push(conversation)
    else groups.push({ name, conversations: [conversation] })
  }
  return groups
}

const DAY_MS = 24 * 3_600_000

function nameOf(at: number, midnight: number): string {
  if (at >= midnight) return 'Today'
  // A day may have 23 or 25 hours.
  const days = Math.round((midnight - new Date(at).setHours(0, 0, 0, 0)) / DAY_MS)
  if (days <= 1) return 'Yesterday'
  if (days <= 7) return 'Last 7 days'
  if (days <= 30) return 'Last 30 days'
  return new Date(at).toLocaleDateString('en', { month: 'long', year: 'numeric' })
}
