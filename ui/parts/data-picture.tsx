import { useEffect, useMemo } from 'preact/hooks'

const FORM = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/

/** A picture of a data URL, which the page's security policy does not allow to load directly. */
export function DataPicture({ url, alt }: { url: string; alt: string }) {
  const address = useMemo(() => URL.createObjectURL(toBlob(url)), [url])
  useEffect(() => () => URL.revokeObjectURL(address), [address])
  return <img src={address} alt={alt} />
}

/** Empty for anything but a picture: programs may have written it. */
function toBlob(url: string): Blob {
  const [, type = '', data = ''] = FORM.exec(url) ?? []
  const whole = data.slice(0, data.length - (data.length % 4))
  return new Blob([Uint8Array.from(atob(whole), (letter) => letter.charCodeAt(0))], { type })
}
