import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { extractFile } from '../../src/extract-file.ts'
import { extractMail } from '../../src/formats/mail.ts'

const HEAD = ['From: Ada <ada@example.org>', 'To: ben@example.org', 'MIME-Version: 1.0']

const mailOf = (headers: string[], ...body: string[]) =>
  Buffer.from([...HEAD, ...headers, '', ...body].join('\r\n'))
const textOf = async (bytes: Buffer) =>
  (await extractMail(bytes, { extract: (file) => extractFile(file), see: async () => '' })).text

const multipart = (...parts: string[][]) =>
  mailOf(
    ['Subject: Parts', 'Content-Type: multipart/mixed; boundary=b'],
    ...parts.flatMap((part) => ['--b', ...part]),
    '--b--',
  )
const attachment = (name: string, content: string, type = 'application/octet-stream') => [
  `Content-Type: ${type}; name="${name}"`,
  `Content-Disposition: attachment; filename="${name}"`,
  '',
  content,
]

describe('A mail', () => {
  it('is its headers, its body and its attachments', async () => {
    expect(await textOf(fixture('curlew.eml'))).toBe(
      [
        '# Curlew nest – please fence',
        '',
        'From: Ada Wader <ada@example.org>',
        'To: warden@example.org',
        'Cc: Ben <ben@example.org>',
        'Date: 2024-05-14T07:30:00.000Z',
        '',
        'The curlew is brooding near the bröck, four eggs.',
        '',
        '## Attachment: sightings.csv',
        '',
        '- date: 2024-05-12; birds: two adults',
        '',
        '',
        '## Attachment: nest.png',
        '',
        '(image/png, 8 bytes. Files of this type are not read: it is an image, and OCR is disabled.)',
        '',
        '',
      ].join('\n'),
    )
  })

  it('may have been taken out of a mailbox, of which each mail is a page', async () => {
    const envelope = Buffer.from('From ada@example.org Mon May  2 16:07:05 2026\n')
    const coded = ['Subject: Terns', 'Content-Transfer-Encoding: base64']
    const mail = Buffer.concat([envelope, mailOf(coded, 'V2Ugc2F3IDUyLg=='), Buffer.from('\n\n')])
    const read = async (bytes: Buffer) =>
      (await extractFile({ name: 'a.eml', mediaType: '', bytes })).text
    expect(await read(mail)).toMatch(/^# Terns\n.*ada@example\.org.*\n\nWe saw 52\.\s*$/s)
    const quoted = Buffer.from(
      'From b@x\nFrom: B <b@example.org>\nDate: 1 May 2026 10:00:00 +0000\nSubject: Two\n\n>From here on\n',
    )
    const box = await extractFile({
      name: 'a.mbox',
      mediaType: '',
      bytes: Buffer.concat([mail, quoted]),
    })
    expect(box.text).toMatch(/^# Terns\n[\s\S]*We saw 52\.[\s\S]*# Two\n[\s\S]*\nFrom here on\s*$/)
    expect(box.pageStarts).toHaveLength(2)
  })

  it('needs fewer headers where its name says that it is one, and some in any case', async () => {
    const read = async (name: string, text: string) =>
      (await extractFile({ name, mediaType: '', bytes: Buffer.from(text) })).text
    const box = 'From a@x\nSubject: One\n\nFirst\n\nFrom b@x\nSubject: Two\n\nSecond\n'
    expect(await read('a.mbox', box)).toMatch(/^# One\n[\s\S]*First\s+# Two\n[\s\S]*Second\s*$/)
    expect(await read('a.eml', 'Subject: One\n\nFirst\n')).toMatch(/^# One\n/)
    expect(await read('a.txt', 'Subject: One\n\nFirst\n')).toMatch(/^Subject: One\n/)
    expect(await read('a.eml', 'Notes on mail.\n\nFirst\n')).toMatch(/^Notes on mail\.\n/)
  })

  it('may have neither subject nor body', async () => {
    expect(await textOf(mailOf([]))).toMatch(/^# Mail without a subject\n\nFrom: Ada/)
  })

  it('may be HTML alone', async () => {
    const headers = ['Subject: Page', 'Content-Type: text/html; charset=utf-8']
    const text = await textOf(mailOf(headers, '<html><body><p>Grüße, <b>Ada</b></p></body></html>'))
    expect(text).toMatch(/Grüße, \*\*Ada\*\*/)
  })

  it('is decoded from any transfer encoding and character set', async () => {
    const headers = [
      'Subject: =?iso-8859-1?Q?Gr=FC=DFe?=',
      'Content-Type: text/plain; charset=koi8-r',
      'Content-Transfer-Encoding: base64',
    ]
    const body = Buffer.from([0xf3, 0xcf, 0xd7, 0xc1]).toString('base64')
    expect(await textOf(mailOf(headers, body))).toMatch(/^# Grüße\n[\s\S]*\nСова\n/)
  })
})

describe('An attachment', () => {
  it('is read as what it is', async () => {
    const text = await textOf(
      multipart(attachment('a.json', '[{"a": 1}]'), attachment('b.md', '# Two')),
    )
    expect(text).toContain('## Attachment: a.json\n\n- a: 1\n')
    expect(text).toContain('## Attachment: b.md\n\n# Two\n')
  })

  it('that cannot be read is named, and affects nothing else', async () => {
    const text = await textOf(multipart(attachment('a.exe', 'MZ'), attachment('b.txt', 'Read me.')))
    expect(text).toMatch(
      /## Attachment: a\.exe\n\n\(application\/octet-stream, \d+ bytes\. .*a Windows program\.\)/,
    )
    expect(text).toContain('Read me.')
  })

  it('may be a mail with an attachment of its own', async () => {
    const inner = multipart(attachment('deep.txt', 'Deep inside.')).toString()
    const text = await textOf(multipart(attachment('inner.eml', inner)))
    expect(text).toMatch(
      /## Attachment: inner\.eml[\s\S]*## Attachment: deep\.txt\n\nDeep inside\./,
    )
  })

  it('is one of a hundred at most', async () => {
    const many = Array.from({ length: 120 }, (_, i) => attachment(`${i}.txt`, `Text ${i}.`))
    const text = await textOf(multipart(...many))
    expect(text.match(/^## Attachment/gm)).toHaveLength(100)
  })
})

describe('The letters of a mail are kept', () => {
  const rawMail = (headers: string[], ...body: string[]) =>
    Buffer.from([...HEAD, ...headers, '', ...body].join('\r\n'), 'latin1')

  it.each([
    [
      'whose page alone names their encoding',
      ['Content-Type: text/html', 'Content-Transfer-Encoding: quoted-printable'],
      '<html><head><meta charset=3D"iso-8859-1"></head><body>V=E6rtsh=F8jen</body></html>',
    ],
    [
      'that names no encoding',
      ['Content-Type: text/plain', 'Content-Transfer-Encoding: 8bit'],
      'V\u00e6rtsh\u00f8jen',
    ],
    ['that says nothing of what it is', [], 'V\u00e6rtsh\u00f8jen'],
    [
      'that names an encoding which nobody knows',
      ['Content-Type: text/plain; charset=unknown-8bit'],
      'V\u00e6rtsh\u00f8jen',
    ],
    [
      'that says it is UTF-8, and is not',
      ['Content-Type: text/plain; charset="utf-8"; format=flowed'],
      'V\u00e6rtsh\u00f8jen',
    ],
  ])('%s', async (_case, headers, body) => {
    expect(await textOf(rawMail(['Subject: Fl\u00e5den', ...headers], body))).toMatch(
      /^# Flåden\n[\s\S]*Værtshøjen/,
    )
  })

  it.each(['a.eml', 'a.mbox'])('where it names the encoding, without a guess: %s', async (name) => {
    const headers = ['Subject: Gebuehr', 'Content-Type: text/plain; charset=iso-8859-2']
    const mail = rawMail(headers, 'Pr\u00edstav \u00b9\u00e8\u00f8')
    const bytes = name === 'a.mbox' ? Buffer.concat([Buffer.from('From a@x\n'), mail]) : mail
    const { text, warnings } = await extractFile({ name, mediaType: '', bytes })
    expect(text).toContain('Prístav ščř')
    expect(warnings).toBeUndefined()
  })

  it('in a part of a part, and in a mail within a mail', async () => {
    const part = (...lines: string[]) => ['--b', ...lines]
    const inner = [...HEAD, 'Subject: Fl\u00e5den', '', 'V\u00e6rtsh\u00f8jen']
    const bytes = rawMail(
      ['Subject: Outer', 'Content-Type: multipart/mixed; boundary="b"'],
      ...part(
        'Content-Type: multipart/alternative; boundary=c',
        '',
        '--c',
        'Content-Type: text/plain',
        '',
        'Sm\u00f8r',
        '--c--',
      ),
      ...part('Content-Type: message/rfc822', '', ...inner),
      '--b--',
    )
    const text = await textOf(bytes)
    for (const words of ['Smør', 'Flåden', 'Værtshøjen']) expect(text).toContain(words)
  })
})

describe('A mail with parts that programs add', () => {
  // postalsys/postal-mime#45
  it.each(['7bit', 'base64'])('has forwarded mails under their own head (%s)', async (encoding) => {
    const forwarded =
      'From: Ben <ben@example.org>\r\nSubject: Quay 7\r\nDate: Tue, 8 Sep 2026 09:00:00 +0000\r\n\r\nIt is free.'
    const content = encoding === '7bit' ? forwarded : Buffer.from(forwarded).toString('base64')
    const type = ['Content-Type: message/rfc822', `Content-Transfer-Encoding: ${encoding}`, '']
    expect(await textOf(multipart(['', 'See below.'], [...type, content]))).toContain(
      'See below.\n\n## Attachment: message.eml\n\n# Quay 7\n\nFrom: Ben <ben@example.org>\nDate: 2026-09-08T09:00:00.000Z\n\nIt is free.',
    )
  })

  it.each([
    ['signature.asc', 'application/pgp-signature'],
    ['smime.p7s', 'application/pkcs7-signature'],
  ])('is read without its signature %s', async (name, type) => {
    const text = await textOf(multipart(['', 'Signed.'], attachment(name, 'iQEzBAEB', type)))
    expect(text).toMatch(/\n\nSigned\.\s*$/)
  })

  // nodemailer/mailparser#234
  it.each(['7bit', 'quoted-printable'])('keeps the lines of its quotes (%s)', async (encoding) => {
    const blank = encoding === '7bit' ? ' ' : '=20'
    const type = [
      'Content-Type: text/plain; charset=utf-8; format=flowed',
      `Content-Transfer-Encoding: ${encoding}`,
    ]
    const lines = [
      `> The fee is${blank}`,
      '> 12 crowns.',
      `>> Too${blank}`,
      '>> much.',
      '',
      `I${blank}`,
    ]
    expect(await textOf(mailOf(['Subject: Fee', ...type], ...lines, 'agree.'))).toContain(
      '> The fee is\n> 12 crowns.\n>> Too\n>> much.\n\nI agree.',
    )
  })

  it('keeps the last letters of its quotes, whatever their bytes', async () => {
    const type = 'Content-Type: text/plain; charset=utf-8; format=flowed'
    const head = ['Subject: Ici', type, 'Content-Transfer-Encoding: 8bit']
    expect(await textOf(mailOf(head, '> Il est déjà là', '> Voilà '))).toContain(
      '> Il est déjà là\n> Voilà',
    )
  })

  // stalwartlabs/mail-parser#74
  it('has the pages within a saved page', async () => {
    const page = ['Content-Type: text/html; charset=utf-8', '']
    const saved = mailOf(
      ['Subject: Saved', 'Content-Type: multipart/related; boundary=b; type="text/html"'],
      ...['--b', ...page, '<html><body><p>Outer</p><iframe src="cid:f@x"></iframe></body></html>'],
      ...['--b', 'Content-ID: <f@x>', ...page, '<html><body><p>Framed</p></body></html>', '--b--'],
    )
    expect(await textOf(saved)).toMatch(/\n\nOuter\n\nFramed\s*$/)
  })
})

describe('The page of a mail is read', () => {
  const alternatives = (plain: string, page: string) =>
    mailOf(
      ['Subject: Two', 'Content-Type: multipart/alternative; boundary=b'],
      ...['--b', 'Content-Type: text/plain; charset=utf-8', '', plain],
      ...['--b', 'Content-Type: text/html; charset=utf-8', '', page, '--b--'],
    )
  const PAGE = '<p>Quay 7 is free from Monday. The fee is 120 crowns.</p>'

  it.each([
    [
      'says that there is one',
      'Your program cannot show this message. Open it in a browser, please.',
    ],
    ['is nothing to see', '\u200b\u200c \u00a0'],
    ['is a greeting alone', 'Hello'],
  ])('where its text %s', async (_case, plain) => {
    const text = await textOf(alternatives(plain, PAGE))
    expect(text).toContain('Quay 7 is free from Monday. The fee is 120 crowns.')
  })

  it('not where its text says the same', async () => {
    const plain = 'Quay 7 is free from Monday.\r\nThe fee is 120 crowns.'
    expect(await textOf(alternatives(plain, PAGE))).toContain('Monday.\nThe fee')
  })

  it('beside its text, where each says something of its own', async () => {
    const plain = Array.from({ length: 60 }, (_, i) => `wader${i}`).join(' ')
    const text = await textOf(alternatives(plain, `${PAGE}<p>${LONG_PAGE}</p>`))
    expect(text).toContain('wader59')
    expect(text).toContain('120 crowns')
  })
})

const LONG_PAGE = Array.from({ length: 50 }, (_, i) => `tern${i}`).join(' ')
