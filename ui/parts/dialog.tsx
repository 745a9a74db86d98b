import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './controls.tsx'
import type { IconName } from './icon.tsx'

/** A modal window; the browser keeps the focus in it, and closes it with Escape. */
export function Dialog({
  title,
  onClose,
  wide = false,
  children,
}: {
  title: string
  onClose: () => void
  wide?: boolean
  children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      // The browser restores the focus only after Escape; removing a dialog from the page loses it.
      const isLost = document.activeElement === document.body
      if (isLost && before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={wide ? 'wide' : ''} aria-labelledby={id} onClose={onClose}>
      <div class="stack">
        <h2 id={id} class="dialog-title">
          {title}
        </h2>
        {children}
      </div>
      {/* After the fields, of which the first gets the focus. */}
      <Button icon="cancel" class="quiet icon-only close" aria-label="Close" onClick={onClose} />
    </dialog>
  )
}

/** Asks before something that cannot be undone. */
export function Confirm({
  title,
  action,
  icon = 'delete',
  onConfirm,
  onClose,
  children,
}: {
  title: string
  /** What the button says that does it. */
  action: string
  icon?: IconName
  onConfirm: () => void
  onClose: () => void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <div class="dialog-foot">
        <Button icon="cancel" onClick={onClose}>
          Cancel
        </Button>
        <Button icon={icon} class="primary danger" onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
