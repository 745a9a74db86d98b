import type { Signal } from '@preact/signals'
import { Button } from '../parts/controls.tsx'
import type { IconName } from '../parts/icon.tsx'

/** Factors of the available width. */
const STEPS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4]

/** How large a page or picture is shown. */
export function Zoom({ value }: { value: Signal<number> }) {
  const smaller = STEPS.findLast((step) => step < value.value)
  const larger = STEPS.find((step) => step > value.value)
  return (
    <fieldset class="row tight">
      <legend class="visually-hidden">Zoom</legend>
      <Step label="Zoom out" icon="less" to={smaller} value={value} />
      <output>{Math.round(value.value * 100)} %</output>
      <Step label="Zoom in" icon="add" to={larger} value={value} />
    </fieldset>
  )
}

function Step({
  label,
  icon,
  to,
  value,
}: {
  label: string
  icon: IconName
  to: number | undefined
  value: Signal<number>
}) {
  return (
    <Button
      icon={icon}
      class="quiet"
      aria-label={label}
      disabled={to === undefined}
      onClick={() => {
        if (to !== undefined) value.value = to
      }}
    />
  )
}
