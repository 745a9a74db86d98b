import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readIngestParameters } from '../../src/commands/ingest.ts'

describe('The parameters of npm run ingest', () => {
  it('are a folder, and what else is left as it is', () => {
    expect(readIngestParameters(['docs/guide/'])).toEqual({
      folder: 'docs/guide/',
      name: 'guide',
      server: undefined,
      include: [],
      metadata: {},
      concurrency: 8,
      hidden: false,
    })
  })

  it('may be given in any order, and some several times', () => {
    const parameters = [
      '--include',
      '**/*.md',
      '--metadata=language=en',
      'docs',
      ...['--include', '*.txt', '--metadata', 'note=a=b', '--metadata', 'empty='],
      ...['--name', 'handbook', '--concurrency', '32', '--hidden'],
      ...['--server', 'https://example.org'],
    ]
    expect(readIngestParameters(parameters)).toEqual({
      folder: 'docs',
      name: 'handbook',
      server: 'https://example.org',
      include: ['**/*.md', '*.txt'],
      metadata: { language: 'en', note: 'a=b', empty: '' },
      concurrency: 32,
      hidden: true,
    })
  })

  it('name the folder by its own name, also where it is this one', () => {
    expect(readIngestParameters(['.'])?.name).toBe(basename(process.cwd()))
  })

  it.each([[[]], [['a', 'b']], [['a', '--help']]])('ask how it is called: %j', (parameters) => {
    expect(readIngestParameters(parameters)).toBeUndefined()
  })

  it.each([
    [['a', '--concurrency', '0'], /^--concurrency must be a number from 1 to 32$/],
    [['a', '--concurrency', '2.5'], /^--concurrency/],
    [['a', '--concurrency', 'many'], /^--concurrency/],
    [['a', '--server', 'ftp://example.org'], /^--server must be a URL/],
    [['a', '--metadata', 'x'], /^--metadata must be a name and a value/],
    [['a', '--metadata', '=x'], /^--metadata must be a name and a value/],
    [['a', '--metadata', '1st=x'], /^--metadata must have names of a letter/],
    [['a', '--metadata', `x=${'y'.repeat(501)}`], /^--metadata/],
    [['a', '--name'], /--name/],
    [['a', '--nonsense'], /--nonsense/],
  ])('are refused, naming the one at fault: %j', (parameters, message) => {
    expect(() => readIngestParameters(parameters)).toThrow(message)
  })
})
