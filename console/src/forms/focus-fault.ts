/** Moves the person to the first fault of a form. */

/** Focuses the first field with a fault, once it is drawn. @param within Default: the page */
export function focusFault(within: ParentNode | null = document.querySelector('main')): void {
  requestAnimationFrame(() => within?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}
