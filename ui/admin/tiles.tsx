import type { Preset } from './presets.ts'

/** The providers of a model, side by side; the one in use is marked. */
export function Tiles({
  title,
  presets,
  chosen,
  isFixed,
  onChoose,
  onOther,
}: {
  title: string
  presets: readonly Preset[]
  /** Undefined where nothing is set. */
  chosen: Preset | 'other' | undefined
  isFixed: (preset: Preset) => boolean
  onChoose: (preset: Preset) => void
  onOther: () => void
}) {
  return (
    <fieldset class="tiles">
      <legend class="label">{title} server</legend>
      {presets.map((preset) => {
        const [, name = preset.name, more] = /^(.+?)(?:, | \()(.+?)\)?$/.exec(preset.name) ?? []
        return (
          <button
            key={preset.name}
            type="button"
            aria-pressed={preset === chosen}
            disabled={isFixed(preset)}
            onClick={() => onChoose(preset)}
          >
            {name}
            {more && <span class="hint">{more}</span>}
          </button>
        )
      })}
      <button type="button" aria-pressed={chosen === 'other'} onClick={onOther}>
        Another server
        <span class="hint">by its URL</span>
      </button>
    </fieldset>
  )
}
