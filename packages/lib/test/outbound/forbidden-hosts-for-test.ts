/** Hosts that lead to this computer or into the network around it, in every form that one may be written in. */
export const FORBIDDEN_ADDRESSES: readonly (readonly [form: string, host: string])[] = [
  ['loopback', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['hexadecimal', '0x7f000001'],
  ['hexadecimal in part', '0x7f.1'],
  ['octal', '0177.0.0.1'],
  ['short', '127.1'],
  ['with a dot at the end', '127.1.'],
  ['in wide digits', '\uFF11\uFF12\uFF17.0.0.1'],
  ['percent-encoded', '%31%32%37.0.0.1'],
  ['this network', '0.0.0.0'],
  ['this network, short', '0'],
  ['IPv6 loopback', '[::1]'],
  ['IPv6 loopback at length', '[0:0:0:0:0:0:0:1]'],
  ['IPv6 unspecified', '[::]'],
  ['IPv4-mapped', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped, hexadecimal', '[::ffff:7f00:1]'],
  ['IPv4-compatible', '[::127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['NAT64 of a network of its own', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['metadata of a cloud', '169.254.169.254'],
  ['metadata of a cloud, decimal', '2852039166'],
  ['metadata of a cloud, IPv6', '[fd00:ec2::254]'],
  ['private', '10.0.0.1'],
  ['private', '192.168.1.1'],
  ['link-local', '[fe80::1]'],
]

/** A name that resolves to the loopback everywhere. */
export const LOOPBACK_NAME = 'localhost'
