// The app in several tabs: one of them looks at the hub, and all tell each other what has changed. The tab that a
// person uses takes the lead, since browsers freeze tabs in the background.

/** The tabs with the same name. `heard` is called with what another tab has told. */
export function tabsOf(name, heard) {
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => heard(data);
  let take = () => {};

  return {
    /** Takes the lead, unless this tab has it. */
    take: () => take(),
    tell: (news) => channel.postMessage(news),
    close: () => channel.close(),

    /**
     * Works whenever this tab has the lead, until the signal is aborted. First it takes the lead: an app that is
     * started looks at once. `work` gets a signal that is aborted when another tab has taken it.
     */
    async lead(signal, work) {
      // Without a secure connection there are no locks: then each tab looks for itself.
      if (!navigator.locks) return work(signal);
      for (let takes = true; !signal.aborted;) {
        const turn = new AbortController();
        const both = AbortSignal.any([signal, turn.signal]);
        let isWaiting = !takes;
        take = () => {
          if (!isWaiting) return;
          takes = true;
          turn.abort();
        };
        const options = takes ? { steal: true } : { signal: both };
        takes = false;
        await navigator.locks.request(name, options, () => {
          isWaiting = false;
          return work(both);
        }).catch((error) => { if (error.name !== "AbortError") throw error; });
        turn.abort();
      }
    },
  };
}
