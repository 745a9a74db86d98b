import { useSignal } from '@preact/signals'

/** A picture that was added as a document, as wide as it is or as there is room at a zoom of 1. */
export function Picture({
  address,
  name,
  zoom,
  onFailure,
}: {
  address: string
  name: string
  zoom: number
  /** Is called where the browser cannot show it. */
  onFailure: () => void
}) {
  const width = useSignal(0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll what has the focus
    <section class="original-place" aria-label="Picture" tabIndex={0}>
      <img
        src={address}
        alt={name}
        style={{ inlineSize: `calc(min(100%, ${width.value}px) * ${zoom})` }}
        onLoad={({ currentTarget }) => (width.value = currentTarget.naturalWidth)}
        onError={onFailure}
      />
    </section>
  )
}
