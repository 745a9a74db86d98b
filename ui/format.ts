const NUMBER = new Intl.NumberFormat('en')
const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' })
const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB']

export const formatNumber = (value: number) => NUMBER.format(value)

/** A day such as 2026-12-11, which is one everywhere. */
export const formatDay = (day: string) => DAY.format(new Date(day))

export const formatDate = (iso: string) => DATE.format(new Date(iso))

/** With the day unless it is today. */
export function formatTime(iso: string): string {
  const at = new Date(iso)
  const time = at.toLocaleTimeString('en-GB')
  const isToday = at.toDateString() === new Date().toDateString()
  return isToday
    ? time
    : `${at.toLocaleDateString('en', { day: 'numeric', month: 'short' })}, ${time}`
}

/** `1 document`, `2 documents`. */
export function counted(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** With the full stop that reasons of the server come without. */
export const asSentence = (text = '') => (/[^.!?]$/.test(text) ? `${text}.` : text)

export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1)
  const value = bytes / 1_000 ** power
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${BYTE_UNITS[power]}`
}

/** Formats an estimated wait: `about 40 seconds`, `about 18 minutes`. */
export function roughly(seconds: number): string {
  if (seconds < 90) return `about ${counted(Math.round(seconds), 'second')}`
  const minutes = Math.round(seconds / 60)
  return minutes < 90
    ? `about ${counted(minutes, 'minute')}`
    : `about ${counted(Math.round(minutes / 60), 'hour')}`
}

export function formatSeconds(milliseconds: number): string {
  return milliseconds < 1_000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1_000).toFixed(1)} s`
}
