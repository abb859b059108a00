/** Things that arrive when they like: kept in order, awaited by who needs the next one. */

export class Inbox<Item> {
  readonly items: Item[] = []
  readonly #waiting = new Set<{ fits(item: Item): boolean; resolve(item: Item): void }>()

  readonly push = (item: Item): void => {
    this.items.push(item)
    for (const waiter of [...this.#waiting]) {
      if (!waiter.fits(item)) continue
      this.#waiting.delete(waiter)
      waiter.resolve(item)
    }
  }

  /** The first item from now on that fits; call it before what causes the item. */
  next(fits: (item: Item) => boolean = () => true): Promise<Item> {
    return new Promise((resolve) => this.#waiting.add({ fits, resolve }))
  }

  clear(): void {
    this.items.length = 0
  }
}
