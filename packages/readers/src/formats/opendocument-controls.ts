import { escapeXml, readXml } from './xml.ts'

/** Fields whose values are not for others to read. */
const SECRET = new Set(['form:password', 'form:hidden'])

/** What is ticked, chosen or typed in the controls of forms, by their IDs, as HTML. */
export function controlsIn(xml: string): Map<string, string> {
  const controls = new Map<string, string>()
  let id = ''
  readXml(xml, {
    open(name, attributes) {
      if (!name.startsWith('form:')) return
      id = attributes['form:id'] ?? attributes['xml:id'] ?? id
      const text = (SHOWN[name] ?? showValue)(attributes)
      if (text !== '' && !SECRET.has(name)) controls.set(id, escapeXml(text))
    },
  })
  return controls
}

type Show = (attributes: Record<string, string>) => string

const showValue: Show = (attributes) =>
  attributes['form:current-value'] ?? attributes['form:value'] ?? ''
const isSelected = (attributes: Record<string, string>) =>
  attributes['form:current-selected'] === 'true' || attributes['form:current-state'] === 'checked'
const showTick: Show = (attributes) =>
  `[${isSelected(attributes) ? 'x' : ' '}] ${attributes['form:label'] ?? ''} `
const showChoice: Show = (attributes) =>
  isSelected(attributes) ? (attributes['form:label'] ?? '') : ''

const SHOWN: Record<string, Show> = {
  'form:checkbox': showTick,
  'form:radio': showTick,
  'form:option': showChoice,
  'form:item': showChoice,
}
