import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** The global unicast range of IPv6; `::7f00:1`, an old form of 127.0.0.1, lies outside it. */
const PUBLIC_IPV6: Range = ipaddr.parseCIDR('2000::/3')
/** Azure's platform services, which every machine there reaches at this address. */
const AZURE_PLATFORM = '168.63.129.16'

export type OutboundPolicy = ReturnType<typeof createOutboundPolicy>

/**
 * Decides which hosts may be called. All public ones may; others must be listed, as a host name, an address, or a
 * range like `10.0.0.0/8`. Throws for an entry that is none of these.
 */
export function createOutboundPolicy(entries: readonly string[]) {
  const names = new Set<string>()
  const ranges: Range[] = []
  for (const entry of entries) {
    const range = parseRange(entry)
    if (range) ranges.push(range)
    else names.add(parseName(entry))
  }
  return {
    /** Whether this name is listed, and so trusted whatever address it resolves to. */
    allowsName: (hostname: string) => names.has(plainName(hostname)),
    /** Whether this address is public or listed. */
    allowsAddress(address: string): boolean {
      if (!ipaddr.isValid(address)) return false
      // An IPv4-mapped IPv6 address counts as the IPv4 address that it stands for.
      const plain = ipaddr.process(address)
      return isPublic(plain) || ranges.some((range) => isWithin(plain, range))
    },
  }
}

/**
 * The IP address of a URL's host, without brackets; undefined if it is a name. `URL` has already normalised `0x7f.1`
 * and `2130706433`.
 */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return ipaddr.isValid(bare) ? bare : undefined
}

function parseRange(entry: string): Range | undefined {
  const bare = entry.replace(/^\[(.*)\]$/, '$1')
  if (ipaddr.IPv4.isValidCIDR(bare) || ipaddr.IPv6.isValidCIDR(bare)) return ipaddr.parseCIDR(bare)
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return undefined
  const address = ipaddr.process(bare)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function parseName(entry: string): string {
  const name = plainName(entry)
  const isName = /^[a-z\d_]([a-z\d_.-]*[a-z\d_])?$/.test(name) && /[a-z]/.test(name)
  if (isName && URL.parse(`http://${name}`)?.hostname === name) return name
  throw new RangeError('An entry must be a host name, an address or a range like 10.0.0.0/8')
}

function plainName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}

/** `unicast` is what remains without private, local, reserved, translated and tunnelled ranges. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || address.toString() === AZURE_PLATFORM) return false
  return address.kind() === 'ipv4' || isWithin(address, PUBLIC_IPV6)
}

function isWithin(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

/** Whether all of these can be entries of a policy. */
export function areOutboundEntries(entries: string[]): boolean {
  try {
    createOutboundPolicy(entries)
    return true
  } catch {
    return false
  }
}
