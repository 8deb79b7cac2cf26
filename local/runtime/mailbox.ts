/** A queue between one that sends and one that awaits. */
export class Mailbox<Message> {
  readonly #messages: Message[] = [];
  #waiting: ((message: Message) => void) | undefined;

  /** Puts a message in. */
  send(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(message);
    else this.#messages.push(message);
  }

  /** Takes the oldest message out, once there is one. One caller at a time. */
  next(): Promise<Message> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
