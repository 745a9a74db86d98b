import { isIP } from 'node:net'

const MAX_PROXIES = 32

/**
 * Whether these can be proxies to trust: how many, or their addresses. Refuses a range of all addresses (`/0`): it
 * would trust what any caller claims about itself.
 */
export function areProxies(entries: string[]): boolean {
  if (entries.length === 1 && /^(?:[1-9]|10)$/.test(entries[0] ?? '')) return true
  return entries.length <= MAX_PROXIES && entries.every(isAddressOrRange)
}

function isAddressOrRange(entry: string): boolean {
  const [, address = '', bits = '1'] = /^([\da-f.:]+)(?:\/([1-9]\d{0,2}))?$/i.exec(entry) ?? []
  return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128)
}
