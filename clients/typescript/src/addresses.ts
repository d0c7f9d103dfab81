/** The addresses of a server's nodes. A bot connects to one of them. */
export class Addresses {
  #nodes: string[] = [];
  #turn = 0;

  /** `current`: the address to connect to. */
  constructor(public current: string) {}

  /** Store the addresses that a welcome lists. Addresses without a host are on the current host. */
  list(listed: readonly { address: string }[]): void {
    const host = this.current.slice(0, this.current.lastIndexOf(":"));
    this.#nodes = listed.map(({ address }) => (address.startsWith(":") ? host + address : address)).filter((address) => address !== "");
    this.#turn = 0;
  }

  /** Switch to another node: the first on the list, and with each further call the next. Do nothing if none exists. */
  next(): void {
    for (let left = this.#nodes.length; left > 0; left -= 1) {
      const address = this.#nodes[this.#turn++ % this.#nodes.length];
      if (address === this.current) continue;
      this.current = address;
      return;
    }
  }
}
