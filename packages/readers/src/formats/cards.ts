import { isKnown } from '../decode-text.ts'
import { createBoundedText, type Extracted, oneLine } from '../extracted.ts'
import { fromQuotedPrintable } from './mail-charsets.ts'

// Calendars (RFC 5545) and cards of people (RFC 6350, and vCard 2.1 of telephones).

/** Properties without anything to read. */
const UNSHOWN =
  /^(?:VERSION|PRODID|BEGIN|END|UID|REV|SEQUENCE|DTSTAMP|CREATED|LAST-MODIFIED|PHOTO|LOGO|SOUND|KEY|TRANSP|CALSCALE|METHOD|X-.*)$/
/** Components that only say how time is counted, or when to ring. */
const OMITTED = new Set(['VTIMEZONE', 'STANDARD', 'DAYLIGHT', 'VALARM'])
const NAMES: Record<string, string> = {
  DTSTART: 'Start',
  DTEND: 'End',
  DUE: 'Due',
  RRULE: 'Repeats',
  TEL: 'Telephone',
  EMAIL: 'Mail',
  ADR: 'Address',
  ORG: 'Organisation',
  BDAY: 'Birthday',
  URL: 'Web',
}
const TITLES = new Set(['SUMMARY', 'FN'])
/** Properties with days and times; other digits are telephone numbers and the like. */
const TIMED =
  /^(?:DT.*|DUE|COMPLETED|R(?:RULE|DATE)|EX(?:RULE|DATE)|RECURRENCE-ID|FREEBUSY|BDAY|DEATHDATE|ANNIVERSARY)$/

interface Property {
  name: string
  parameters: string
  value: string
}

/** Each appointment, task or person under its name, with a line for each property. */
export function extractCards(source: string): Extracted {
  const text = createBoundedText()
  let title = ''
  /** The name in parts, all that vCard 2.1 requires. */
  let person = ''
  let lines: string[] = []
  const end = () => {
    const heading = `## ${title || person || 'Without a name'}`
    if (title !== '' || person !== '' || lines.length > 0)
      text.add([heading, '', ...lines, '', ''].join('\n'))
    title = ''
    person = ''
    lines = []
  }
  for (const { name, parameters, value } of shownIn(source)) {
    if (name === 'BEGIN' || name === 'END') end()
    else if (TITLES.has(name) && title === '') title = oneLine(value)
    else if (name === 'N') person = oneLine(value)
    else if (!UNSHOWN.test(name) && value.trim() !== '') lines.push(lineOf(name, parameters, value))
  }
  end()
  return { text: text.toString() }
}

/** All properties but those of components without anything to read. */
function* shownIn(source: string): Generator<Property> {
  let omitted: string | undefined
  for (const property of propertiesOf(source)) {
    const component = property.value.toUpperCase()
    if (property.name === 'BEGIN' && OMITTED.has(component)) omitted ??= component
    if (omitted === undefined) yield property
    if (property.name === 'END' && component === omitted) omitted = undefined
  }
}

function lineOf(name: string, parameters: string, value: string): string {
  const zone = /;TZID="?([^;"]+)/i.exec(parameters)?.[1]
  const person = /;CN="?([^;"]+)/i.exec(parameters)?.[1]
  const type = /;TYPE="?([^;"]+)/i.exec(parameters)?.[1]
  const about = [zone, person, type].filter(Boolean).join(', ')
  const label = NAMES[name] ?? `${name.charAt(0)}${name.slice(1).toLowerCase()}`
  const shown = TIMED.test(name) ? inTime(value) : value.replace(/^mailto:/i, '')
  return `- ${label}: ${oneLine(shown)}${about && ` (${about})`}`
}

const inTime = (value: string) =>
  value.replaceAll(
    /\b(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?\b/g,
    (_, year: string, month: string, day: string, ...time: (string | undefined)[]) => {
      const [hour, minute, second, zone] = time
      const date = `${year}-${month}-${day}`
      return hour === undefined ? date : `${date} ${hour}:${minute}:${second}${zone ? ' UTC' : ''}`
    },
  )

const ENCODED = /;(?:ENCODING=)?QUOTED-PRINTABLE/i
const BINARY = /;ENCODING=(?:B|BASE64)\b/i

/** A line continues after white space or, if its letters are encoded, after an equals sign. */
function* propertiesOf(source: string): Generator<Property> {
  let parts: string[] = []
  let isEncoded = false
  const take = () => {
    const property = parsed(parts.join(''))
    return property ? [property] : []
  }
  for (const line of source.split('\n')) {
    const last = parts.at(-1) ?? ''
    if (isEncoded && last.endsWith('=')) {
      parts[parts.length - 1] = last.slice(0, -1)
      parts.push(line)
    } else if (/^[ \t]/.test(line)) parts.push(line.slice(1))
    else {
      yield* take()
      parts = [line]
      isEncoded = ENCODED.test(line.split(':', 1)[0] ?? '')
    }
  }
  yield* take()
}

function parsed(line: string): Property | undefined {
  const [, name, parameters = '', value = ''] =
    /^(?:[\w-]+\.)?([\w-]+)((?:;(?:"[^"]*"|[^":;])*)*):([\s\S]*)$/.exec(line) ?? []
  if (name === undefined || BINARY.test(parameters) || /^data:/i.test(value)) return undefined
  const decoded = ENCODED.test(parameters) ? unquotedPrintable(value, parameters) : value
  const plain = decoded.replaceAll(/\\n/gi, ' ').replaceAll(/\\([\\,;:])/g, '$1')
  const isStructured = /^(?:ADR|ORG|N)$/i.test(name)
  const shown = isStructured
    ? plain
        .split(';')
        .filter((part) => part.trim())
        .join(', ')
    : plain
  return { name: name.toUpperCase(), parameters, value: shown }
}

function unquotedPrintable(value: string, parameters: string): string {
  const charset = /;CHARSET="?([\w-]+)/i.exec(parameters)?.[1] ?? 'utf-8'
  return isKnown(charset) ? new TextDecoder(charset).decode(fromQuotedPrintable(value)) : value
}
