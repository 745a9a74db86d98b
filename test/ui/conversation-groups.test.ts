import { expect, it } from 'vitest'
import { groupByDay } from '../../ui/chat/conversation-groups.ts'

const now = new Date(2026, 10, 29, 14, 30)
const changedAt = (date: Date) => ({
  id: date.toISOString(),
  object: 'conversation' as const,
  created_at: 0,
  updated_at: date.getTime() / 1_000,
  title: null,
  last_item_id: null,
  metadata: {},
})

it('Conversations stand in groups by the day of their last change, up to months', () => {
  const dates = [
    new Date(2026, 10, 29, 14, 29),
    new Date(2026, 10, 29, 0, 0, 1),
    new Date(2026, 10, 28, 23, 59),
    new Date(2026, 10, 22, 12),
    new Date(2026, 10, 21, 12),
    new Date(2026, 9, 20),
    new Date(2026, 9, 1),
    new Date(2025, 9, 1),
  ]
  const groups = groupByDay(dates.map(changedAt), now)
  expect(groups.map(({ name, conversations }) => [name, conversations.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 1],
    ['Last 7 days', 1],
    ['Last 30 days', 1],
    ['October 2026', 2],
    ['October 2025', 1],
  ])
})
