import { describe, expect, it } from 'vitest'
import { readFrontMatter } from '../../../src/agent/skills/read-skill.ts'

const skill = (yaml: string, body = 'Do it.') => `---\n${yaml}\n---\n${body}`

describe('the front matter', () => {
  it.each<[string, string, object]>([
    ['plain', skill('name: a\ndescription: Does it'), { name: 'a', description: 'Does it' }],
    [
      'with a byte order mark and Windows line ends',
      '\ufeff---\r\nname: a\r\n---\r\nDo it.',
      { name: 'a' },
    ],
    ['with a block of text', skill('description: |\n  One\n  two'), { description: 'One\ntwo\n' }],
    [
      'with a date, which stays text',
      skill('description: x\nmetadata:\n  when: 2026-01-01'),
      { description: 'x', metadata: { when: '2026-01-01' } },
    ],
    [
      'with --- at the end of a line',
      skill('description: a ---\nname: b'),
      { description: 'a ---', name: 'b' },
    ],
    ['with a separator of lines in it', skill('name: a\u2028b'), { name: 'a\u2028b' }],
    ['with --- inside the body', skill('name: a', 'Do it.\n---\nAgain.'), { name: 'a' }],
  ])('is read: %s', async (_case, text, data) => {
    expect(await readFrontMatter(text)).toMatchObject({ data, warnings: [] })
  })

  it('is apart from the instructions', async () => {
    const { body } = await readFrontMatter(skill('name: a', '\n# Title\n\nDo it.\n'))
    expect(body).toBe('# Title\n\nDo it.')
  })

  it('may contain a colon that YAML forbids, with a warning', async () => {
    const text = skill('name: a\ndescription: Use it when: asked')
    const { data, warnings } = await readFrontMatter(text)
    expect(data).toEqual({ name: 'a', description: 'Use it when: asked' })
    expect(warnings).toHaveLength(1)
  })

  it.each([
    ['code', 'description: `ls` for reports', '`ls` for reports'],
    ['brackets', 'description: [Beta] Makes reports', '[Beta] Makes reports'],
    ['braces', 'description: {{name}} is greeted', '{{name}} is greeted'],
    [
      'quotes around a word',
      'description: "Harbour" reports and more',
      '"Harbour" reports and more',
    ],
    ['an at sign', 'description: @team asks for it', '@team asks for it'],
    ['a percent sign', 'description: %-values of anything', '%-values of anything'],
    ['emphasis', 'description: *Always* use it first', '*Always* use it first'],
    ['a sharp', 'description: Answers C # questions', 'Answers C # questions'],
    ['a quote in its marks', "description: 'It's for reports'", "'It's for reports'"],
    ['an arrow', 'description: > Makes reports', '> Makes reports'],
    [
      'a colon, over two lines',
      'description: Use when: asked,\n  or when v2: charts',
      'Use when: asked, or when v2: charts',
    ],
    ['a tab for its second line', 'description: Use when:\n\tasked', 'Use when: asked'],
    ['a sharp, over two lines', 'description: For C # and\n  for D', 'For C # and for D'],
  ])('may hold a text with %s, with a warning', async (_case, yaml, description) => {
    const { data, warnings } = await readFrontMatter(skill(`name: a\n${yaml}\nlicense: MIT`))
    expect(data).toEqual({ name: 'a', description, license: 'MIT' })
    expect(warnings).toHaveLength(1)
  })

  it('may begin after blank lines', async () => {
    expect((await readFrontMatter(`\n\n${skill('name: a')}`)).data).toEqual({ name: 'a' })
  })

  it('may have comments', async () => {
    const text = skill('# A skill\nname: a # the folder\ndescription: "C # questions" # in quotes')
    expect(await readFrontMatter(text)).toMatchObject({
      data: { name: 'a', description: 'C # questions' },
      warnings: [],
    })
  })

  it('is refused with the position of the mistake', async () => {
    await expect(readFrontMatter(skill('name: [a'))).rejects.toThrow(/usable YAML: .* column \d+$/)
  })

  it.each([
    ['JavaScript', '---js\nmodule.exports = { name: process.exit(1) }\n---\n'],
    ['JavaScript by another name', '---javascript\n{}\n---\n'],
    ['JavaScript without an end', '---javascript\nprocess.exit(1)'],
    ['JSON', '---json\n{ "name": "a" }\n---\n'],
    ['a language named as a method of objects', '---toString\nname: a\n---\n'],
    ['a marker with more behind it', '---\nname: a\n---js\nprocess.exit(1)\n---\n'],
    ['no front matter', '# Title'],
    ['no end', '---\nname: a\n'],
    ['nothing', ''],
    ['an empty one', '---\n---\nDo it.'],
    ['a list', skill('- name\n- description')],
    ['text', skill('just text')],
    ['a key twice', skill('name: a\nname: b')],
    ['an alias', skill('name: &a x\ndescription: *a')],
    ['a bomb of aliases', skill(aliasBomb())],
    ['a type of another language', skill('name: !!js/function "function () {}"')],
    ['a type of Python', skill('name: !!python/object/apply:os.system ["true"]')],
    ['brackets without end', skill('['.repeat(10_000))],
    ['too much of it', skill(`name: ${'a'.repeat(20_000)}`)],
  ])('is refused with %s', async (_case, text) => {
    await expect(readFrontMatter(text)).rejects.toMatchObject({ name: 'SkillError' })
  })

  it('is parsed again each time, unaffected by changes to earlier results', async () => {
    const text = skill('name: a\nmetadata:\n  one: x')
    Object.assign((await readFrontMatter(text)).data, { name: 'b' })
    expect((await readFrontMatter(text)).data).toEqual({ name: 'a', metadata: { one: 'x' } })
  })

  it('protects prototypes from keys such as __proto__', async () => {
    const { data } = await readFrontMatter(skill('name: a\n__proto__:\n  polluted: true'))
    expect(data).not.toHaveProperty('polluted')
    expect({}).not.toHaveProperty('polluted')
  })
})

/** Ten levels of ten references: ten billion values, if they were all made. */
function aliasBomb(): string {
  const levels = Array.from({ length: 10 }, (_, level) => {
    const references = Array.from({ length: 10 }, () => `*l${level}`).join(', ')
    return `l${level + 1}: &l${level + 1} [${references}]`
  })
  return ['l0: &l0 x', ...levels].join('\n')
}
