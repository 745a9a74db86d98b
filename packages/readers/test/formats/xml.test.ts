import { describe, expect, it } from 'vitest'
import { parsePage } from '../../src/formats/html-page.ts'
import { readXml } from '../../src/formats/xml.ts'

function eventsOf(xml: string): string[] {
  const events: string[] = []
  readXml(xml, {
    open: (name, attributes) => events.push(`<${name} ${JSON.stringify(attributes)}`),
    text: (text) => events.push(text),
    close: (name) => events.push(`/${name}`),
  })
  return events
}

describe('XML', () => {
  it('is reported element by element', () => {
    expect(eventsOf('<a:b c="1&amp;2">x<D/></a:b>')).toEqual([
      '<a:b {"c":"1&2"}',
      'x',
      '<D {}',
      '/D',
      '/a:b',
    ])
  })

  it('has its own entities resolved, and no others', () => {
    const declared = '<!DOCTYPE a [<!ENTITY lol "haha">]><a>&lol; &lt; &#65;</a>'
    expect(eventsOf(declared).join('')).toContain('&lol; < A')
  })

  it('may be broken off', () => expect(eventsOf('<a><b>x')).toContain('x'))
})

describe('A page', () => {
  const bodyOf = (html: string) => parsePage(html).body?.textContent?.trim()

  it.each([
    ['whole', '<!doctype html><html lang="en"><head><title>T</title></head><body>x</body></html>'],
    ['without a head', '<html><body>x</body></html>'],
    ['without a frame', '<body class="a">x</body>'],
    ['without a body', '<html><p>x</p></html>'],
    ['of one element', '<p>x</p>'],
    ['of text alone', 'x'],
    ['in capitals', '<HTML><BODY>x</BODY></HTML>'],
  ])('has a body: one %s', (_case, html) => expect(bodyOf(html)).toBe('x'))

  it('may nest a thousand deep, and no deeper', () => {
    expect(bodyOf(`${'<i>'.repeat(990)}x`)).toBe('x')
    const deep = () => parsePage('<i>'.repeat(1_001))
    expect(deep).toThrow(expect.objectContaining({ code: 'file_too_complex' }))
  })

  it('may hold any number of elements side by side', () => {
    expect(bodyOf('<i>x</i>'.repeat(20_000))).toHaveLength(20_000)
    expect(bodyOf('<p>x'.repeat(5_000))).toHaveLength(5_000)
  })
})
