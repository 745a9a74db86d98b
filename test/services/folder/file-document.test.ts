import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ChosenId } from '../../../src/schemas/document.ts'
import { Metadata } from '../../../src/schemas/metadata.ts'
import { describeFile } from '../../../src/services/folder/server-client.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

/** A file with this content, described as if it stood at `path`. */
async function describedAs(path: string, content: string | Buffer, metadata: Metadata = {}) {
  const file = join(await temporaryDirectory(), 'file')
  await writeFile(file, content)
  return describeFile(file, path, metadata)
}

describe('The id of a file', () => {
  it.each([
    ['a plain path', 'docs/guide/install.md'],
    ['letters that no id may have', 'docs/Öl & Gas/préface 1.md'],
    ['nothing but such letters', '文档/说明'],
    ['a dot at the front', 'docs/.hidden'],
    ['a very long path', `docs/${'very-long/'.repeat(60)}end.md`],
  ])('is one that a client may choose, whatever its path has: %s', async (_what, path) => {
    const { id } = await describedAs(path, 'x')
    expect(ChosenId.safeParse(id).error).toBeUndefined()
  })

  it('is that of its path, whatever it holds', async () => {
    const first = await describedAs('docs/a.md', 'One.')
    const second = await describedAs('docs/a.md', 'Two.', { year: 2026 })
    expect(second.id).toBe(first.id)
  })

  it('tells paths apart that are written alike', async () => {
    const paths = ['docs/a b.md', 'docs/a-b.md', 'docs/a/b.md', 'other/a b.md']
    const described = await Promise.all(paths.map((path) => describedAs(path, 'x')))
    expect(new Set(described.map(({ id }) => id)).size).toBe(paths.length)
  })
})

describe('The digest of a file', () => {
  const digestOf = async (content: string, metadata: Metadata = {}, path = 'docs/a.md') =>
    (await describedAs(path, content, metadata)).digest

  it('is the same for the same content, metadata and path', async () => {
    expect(await digestOf('One.', { a: 1, b: 2 })).toBe(await digestOf('One.', { b: 2, a: 1 }))
  })

  it('changes with each of them', async () => {
    const digests = [
      await digestOf('One.'),
      await digestOf('Two.'),
      await digestOf('One.', { a: 1 }),
      await digestOf('One.', {}, 'docs/b.md'),
    ]
    expect(new Set(digests).size).toBe(digests.length)
  })
})

describe('What is sent of a file', () => {
  it('tells where it comes from, within the bounds of metadata', async () => {
    const path = `docs/${'long/'.repeat(200)}a.md`
    const { title, metadata } = await describedAs(path, 'x', { language: 'en' })
    expect(title).toBe('a.md')
    expect(metadata).toMatchObject({ language: 'en', source_path: path.slice(-500) })
    expect(Metadata.safeParse(metadata).error).toBeUndefined()
  })

  it.each(['a.txt', 'a.MD', 'a.rst'])('is its text where it is %s', async (path) => {
    const { body, metadata } = await describedAs(path, 'Äpfel.')
    expect(await body()).toEqual({ json: { text: 'Äpfel.', title: path, metadata } })
  })

  it.each<[string, string, string | Buffer]>([
    ['no text', 'a.pdf', '%PDF'],
    ['text in another encoding', 'a.txt', Buffer.from('Äpfel', 'latin1')],
    ['larger than what is held in memory', 'a.txt', 'x'.repeat(4_000_001)],
  ])('is the file as it is where it is %s', async (_what, path, content) => {
    const { body, metadata } = await describedAs(path, content)
    const sent = await body()
    if (!('form' in sent)) throw new Error('It is sent as text')
    expect([...sent.form.keys()].toSorted()).toEqual(['file', 'metadata', 'title'])
    expect(JSON.parse(String(sent.form.get('metadata')))).toEqual(metadata)
    const file = sent.form.get('file')
    if (!(file instanceof File)) throw new Error('There is no file')
    expect(file.name).toBe(path)
    expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.from(content))
  })
})
