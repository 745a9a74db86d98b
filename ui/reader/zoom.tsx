import type { Signal } from '@preact/signals'

/** Of the width that is there. */
const STEPS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4]

/** How large a page or picture is shown. */
export function Zoom({ value }: { value: Signal<number> }) {
  const smaller = STEPS.findLast((step) => step < value.value)
  const larger = STEPS.find((step) => step > value.value)
  return (
    <fieldset class="row tight">
      <legend class="visually-hidden">Zoom</legend>
      <Step label="Zoom out" sign="−" to={smaller} value={value} />
      <output>{Math.round(value.value * 100)} %</output>
      <Step label="Zoom in" sign="+" to={larger} value={value} />
    </fieldset>
  )
}

function Step({
  label,
  sign,
  to,
  value,
}: {
  label: string
  sign: string
  to: number | undefined
  value: Signal<number>
}) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={label}
      disabled={to === undefined}
      onClick={() => {
        if (to !== undefined) value.value = to
      }}
    >
      {sign}
    </button>
  )
}
