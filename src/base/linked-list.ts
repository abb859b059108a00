/**
 * A doubly linked list whose nodes hold their own links. It is for collections that are filled and emptied all the time:
 * a Set leaves its outgrown tables behind, and those keep their old entries alive until the next full collection.
 */

/** A node is in at most one list at a time. */
export interface ListNode<Node> {
  previous: Node | undefined
  next: Node | undefined
}

export class LinkedList<Node extends ListNode<Node>> {
  #first: Node | undefined
  #last: Node | undefined

  /** The oldest node. Follow `next` for the others. */
  get first(): Node | undefined {
    return this.#first
  }

  has(node: Node): boolean {
    return node.previous !== undefined || this.#first === node
  }

  add(node: Node): void {
    node.previous = this.#last
    if (this.#last) this.#last.next = node
    else this.#first = node
    this.#last = node
  }

  /** False when the node is not in the list. */
  remove(node: Node): boolean {
    if (!this.has(node)) return false
    const { previous, next } = node
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    node.previous = undefined
    node.next = undefined
    return true
  }
}
