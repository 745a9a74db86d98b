import { expect, it } from 'vitest'
import { extractFile } from '../../src/extract-file.ts'
import { sourceFile } from '../source-file.ts'

const textOf = async (name: string, content: string | Buffer, mediaType = '') =>
  (await extractFile({ ...sourceFile(name, content), mediaType })).text

const PICTURE = 'iVBORw0KGgo'.repeat(50)

it('A notebook is its cells and what they gave, without pictures', async () => {
  const cells = [
    { cell_type: 'markdown', source: ['# Terns\n', `![a](data:image/png;base64,${PICTURE})`] },
    {
      cell_type: 'code',
      source: 'print(52)',
      outputs: [
        { output_type: 'stream', text: ['52\n'] },
        { output_type: 'display_data', data: { 'image/png': PICTURE, 'text/plain': '<Figure>' } },
        { data: { 'text/html': '<table><tr><td>a<td>b<tr><td>1<td>2</table>', 'text/plain': 'x' } },
        { output_type: 'error', traceback: ['\u001b[0;31mValueError\u001b[0m: too few'] },
        { output_type: 'error', ename: 'KeyError', evalue: "'owl'", traceback: [] },
      ],
    },
  ]
  const metadata = { language_info: { name: 'julia' } }
  expect(await textOf('a.ipynb', JSON.stringify({ cells, metadata, nbformat: 4 }))).toBe(
    [
      '# Terns\n![a]()',
      '```julia\nprint(52)\n```',
      '```\n52\n```',
      '```\n<Figure>\n```',
      '| a | b |\n| --- | --- |\n| 1 | 2 |',
      '```\nValueError: too few\n```',
      "```\nKeyError: 'owl'\n```",
      '',
    ].join('\n\n'),
  )
})

it('An old notebook has its cells in worksheets', async () => {
  const cells = [
    { cell_type: 'heading', level: 2, source: 'Gulls' },
    { cell_type: 'code', input: ['1+1'], outputs: [{ text: ['2'] }] },
  ]
  expect(await textOf('a.ipynb', JSON.stringify({ worksheets: [{ cells }] }))).toBe(
    '## Gulls\n\n```python\n1+1\n```\n\n```\n2\n```\n\n',
  )
  expect(await textOf('a.ipynb', 'no JSON')).toBe('```json\nno JSON\n```\n')
})

it('Markdown has no pictures in base64', async () => {
  expect(await textOf('a.md', `See ![a](data:image/png;base64,${PICTURE}).`)).toBe('See ![a]().')
})

it.each(['a.fb2', 'a.xml'])('A FictionBook is its chapters, also as %s', async (name) => {
  const book = `<?xml version="1.0" encoding="windows-1251"?><FictionBook xmlns:l="http://www.w3.org/1999/xlink"><description><title-info><genre>sea</genre><author><first-name>Ida</first-name><last-name>Ost</last-name></author><book-title>\u0421\u043e\u0432\u0430</book-title></title-info></description><body><section><title><p>One</p><p>Dawn</p></title><p>Fee 45<a l:href="#n1" type="note">1</a> is 10<sup>6</sup>.</p><poem><stanza><v>Line</v></stanza></poem></section></body><binary id="x">${PICTURE}</binary></FictionBook>`
  const bytes = Buffer.from(
    book.replace('\u0421\u043e\u0432\u0430', '\u00d1\u00ee\u00e2\u00e0'),
    'latin1',
  )
  const text = await textOf(name, bytes)
  expect(text).toMatch(/^Ida Ost\s+# Сова\s+## One Dawn\s+Fee 45\[1\] is 10\^6\.\s+Line$/)
})

it('A calendar is its appointments', async () => {
  const calendar = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'BEGIN:VTIMEZONE',
    'TZID:Europe/Oslo',
    'END:VTIMEZONE',
    'BEGIN:VEVENT',
    'DESCRIPTION:A long line that is fol',
    ' ded\\, and more\\nof it',
    'SUMMARY:Harbour council',
    'DTSTART;TZID=Europe/Oslo:20300901T100000',
    'ATTENDEE;CN="Ida Ost":mailto:ida@example.org',
    'BEGIN:VALARM',
    'DESCRIPTION:Ring',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n')
  expect(await textOf('a.ics', calendar)).toBe(
    '## Harbour council\n\n- Description: A long line that is folded, and more of it\n- Start: 2030-09-01 10:00:00 (Europe/Oslo)\n- Attendee: ida@example.org (Ida Ost)\n\n',
  )
})

it('Cards are people, in any encoding, without their pictures', async () => {
  const cards = [
    'BEGIN:VCARD',
    'VERSION:2.1',
    'FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg =',
    'Ost',
    'TEL;TYPE=WORK:+45 70 12 34',
    'ADR;TYPE=HOME:;;Quay 7;Oslo;;0150;Norway',
    `PHOTO;ENCODING=b;TYPE=PNG:${PICTURE}`,
    'END:VCARD',
  ].join('\n')
  expect(await textOf('a.vcf', cards)).toBe(
    '## Jörg Ost\n\n- Telephone: +45 70 12 34 (WORK)\n- Address: Quay 7, Oslo, 0150, Norway (HOME)\n\n',
  )
})

it('A card that has its name only in parts is headed by them, and keeps all figures', async () => {
  const cards = [
    ...['BEGIN:VCARD', 'VERSION:2.1', 'N:Ost;Jo', 'TEL:30123456', 'BDAY:19800229', 'END:VCARD'],
    ...['BEGIN:VCARD', 'N:Tern;Ida', 'FN:Ida Tern', 'NOTE:Order 20301231', 'END:VCARD'],
    ...['BEGIN:VCARD', 'N:Gull;Ann', 'END:VCARD'],
  ].join('\n')
  expect(await textOf('a.vcf', cards)).toBe(
    '## Ost, Jo\n\n- Telephone: 30123456\n- Birthday: 1980-02-29\n\n## Ida Tern\n\n- Note: Order 20301231\n\n## Gull, Ann\n\n\n',
  )
})

it('A page that a browser saved as a mail is its text', async () => {
  const saved = [
    'MIME-Version: 1.0',
    'Content-Type: multipart/related; type="text/html"; boundary="part"',
    '',
    '--part',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>The sluice is =',
    'closed =E2=80=93 today.</p>',
    '--part',
    'Content-Type: text/css',
    'Content-Location: https://example.org/a.css',
    '',
    'p { color: red }',
    '--part--',
  ].join('\n')
  const text = await textOf('page.mhtml', saved)
  expect(text).toContain('The sluice is closed – today.')
  expect(text).not.toMatch(/color|Attachment/)
})

it('A table of a book keeps its values under their heads', async () => {
  const rows =
    '<tr><th>Quay</th><th>Season</th><th>Fee</th></tr><tr><td rowspan="2">7</td><td>Low</td><td>17</td></tr><tr><td>High</td><td>22</td></tr>'
  const book = `<FictionBook><body><section><table>${rows}</table></section></body></FictionBook>`
  expect(await textOf('a.fb2', book)).toContain('| 7 | High | 22 |')
})

it('An appointment has the days of its repetitions, and its number as it is', async () => {
  const calendar = [
    'BEGIN:VEVENT',
    'SUMMARY:Dredging',
    'RRULE:FREQ=DAILY;UNTIL=20300908T000000Z',
    'EXDATE;VALUE=DATE:20300903,20300904',
    'LOCATION:Berth 20300901',
    'END:VEVENT',
  ].join('\n')
  expect(await textOf('a.ics', `BEGIN:VCALENDAR\n${calendar}\nEND:VCALENDAR`)).toBe(
    '## Dredging\n\n- Repeats: FREQ=DAILY;UNTIL=2030-09-08 00:00:00 UTC\n- Exdate: 2030-09-03,2030-09-04\n- Location: Berth 20300901\n\n',
  )
})

it.each([
  ['a fragment', 'a.html', '', '<h1>Fees</h1><p>12 crowns</p><script>secret()</script>'],
  [
    'what a long comment begins',
    'a',
    '',
    `<!-- ${'licence '.repeat(2_000)} --><!DOCTYPE html><html><body><h1>Fees</h1><p>12 crowns</p></body></html>`,
  ],
  ['what the sender calls a page', 'fees', 'text/html', '<h1>Fees</h1><p>12 crowns</p>'],
  ['what begins with a body', 'fees', '', '<body><h1>Fees</h1><p>12 crowns</p></body>'],
])('HTML is read as a page: %s', async (_case, name, mediaType, html) => {
  expect(await textOf(name, html, mediaType)).toBe('# Fees\n\n12 crowns')
})

it('What is called a page but has no markup is text', async () => {
  expect(await textOf('a.html', 'a < b, and 12 crowns')).toBe('a < b, and 12 crowns')
})
