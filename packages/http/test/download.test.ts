import { attachment } from '@agent-server/http/download.ts'
import { describe, expect, it } from 'vitest'

const dispositionOf = (name: string) => attachment(name, 'text/plain')['content-disposition']

describe('The media type of an attachment', () => {
  it.each([
    'text/javascript',
    'application/javascript; charset=utf-8',
    'Text/JavaScript1.5',
    'application/x-ecmascript',
    'text/jscript',
    'text/livescript',
  ])('is never one that a page runs: %s', (mediaType) => {
    expect(attachment('a.js', mediaType)['content-type']).toBe('text/plain')
  })

  it.each(['application/postscript', 'text/html', 'image/svg+xml'])(
    'is else its own: %s',
    (own) => {
      expect(attachment('a', own)['content-type']).toBe(own)
    },
  )
})

describe('The name of an attachment', () => {
  it.each([
    ['a.txt', 'attachment; filename=a.txt'],
    ['a "b".txt', 'attachment; filename="a \\"b\\".txt"'],
    ['100%.txt', 'attachment; filename=100%.txt'],
    ["it's (1).txt", `attachment; filename="it's (1).txt"`],
    ['a\r\nx: y', `attachment; filename="a??x: y"; filename*=UTF-8''a%0D%0Ax%3A%20y`],
    ['日本', `attachment; filename="??"; filename*=UTF-8''%E6%97%A5%E6%9C%AC`],
    ['\ud800', `attachment; filename="?"; filename*=UTF-8''%EF%BF%BD`],
  ])('%j fits into a header', (name, disposition) => {
    expect(dispositionOf(name)).toBe(disposition)
    expect(() => new Headers({ 'content-disposition': disposition })).not.toThrow()
  })
})
