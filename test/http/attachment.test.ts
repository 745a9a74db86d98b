import { describe, expect, it } from 'vitest'
import { attachment } from '../../src/http/content-types.ts'

const dispositionOf = (name: string) => attachment(name, 'text/plain')['content-disposition']

describe('The name of an attachment', () => {
  it.each([
    ['a.txt', `attachment; filename="a.txt"; filename*=UTF-8''a.txt`],
    ['a "b".txt', `attachment; filename="a _b_.txt"; filename*=UTF-8''a%20%22b%22.txt`],
    ['100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
    ["it's (1).txt", `attachment; filename="it's (1).txt"; filename*=UTF-8''it%27s%20%281%29.txt`],
    ['a\r\nx: y', `attachment; filename="a__x: y"; filename*=UTF-8''a%0D%0Ax%3A%20y`],
    ['日本', `attachment; filename="__"; filename*=UTF-8''%E6%97%A5%E6%9C%AC`],
    ['\ud800', `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`],
  ])('%j fits into a header', (name, disposition) => {
    expect(dispositionOf(name)).toBe(disposition)
    expect(() => new Headers({ 'content-disposition': disposition })).not.toThrow()
  })
})
