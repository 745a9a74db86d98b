import { describe, expect, it } from 'vitest'
import { mcpToolName } from '../../../src/services/mcp/tools.ts'

describe('the name of a tool', () => {
  it('is that of its connection and its own', () => {
    expect(mcpToolName('github', 'create_issue')).toBe('mcp__github__create_issue')
  })

  it.each([
    ['too long', 'a'.repeat(128)],
    ['with dots', 'files.read.all'],
    ['with other letters', 'größe messen'],
    ['empty', ''],
  ])('is one that every model takes: %s', (_case, tool) => {
    expect(mcpToolName('connection', tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  it('is another one for every tool, however they are made to fit', () => {
    const long = 'a'.repeat(100)
    const tools = ['a.b', 'a b', 'a_b', 'a:b', `${long}x`, `${long}y`, 'ä', 'ö']
    const names = tools.map((tool) => mcpToolName('c', tool))
    expect(new Set(names).size).toBe(tools.length)
  })

  it('is the same each time', () => {
    expect(mcpToolName('c', 'a.b')).toBe(mcpToolName('c', 'a.b'))
  })
})
