import Bus
import Synchronization

/// The readers of all message logs, which come and go. Each message log counts its changes separately, so each has a reader.
final class MessageLogReaders: Sendable {
    private struct State {
        /// By the numbers of the instances.
        var readers: [Int: MessageLogReader]
        /// Those that no task runs yet.
        var new: [Int]
    }

    private let instances: InstanceClients
    private let state: Mutex<State>

    init(of instances: InstanceClients) {
        self.instances = instances
        let readers = Dictionary(uniqueKeysWithValues: instances.all.map { ($0.id, MessageLogReader(client: $0.client)) })
        state = Mutex(State(readers: readers, new: readers.keys.sorted()))
    }

    /// The readers of the message logs that are there now.
    var all: [MessageLogReader] { state.withLock { Array($0.readers.values) } }

    /// Runs a body for each reader, until the task is cancelled. A reader is finished when its message log goes away.
    ///
    /// - Parameter body: Gets the reader's number, which is never used again.
    func run(_ body: @escaping @Sendable (_ number: Int, _ reader: MessageLogReader) async -> Void) async {
        await withDiscardingTaskGroup { group in
            func start() {
                for (number, reader) in takeNew() { group.addTask { await body(number, reader) } }
            }
            // Also if the task is cancelled already, so that no one waits for a reader that does not run.
            start()
            for await current in instances.changes {
                update(current)
                start()
            }
        }
    }

    private func takeNew() -> [(Int, MessageLogReader)] {
        state.withLock { state in
            defer { state.new = [] }
            return state.new.compactMap { number in state.readers[number].map { (number, $0) } }
        }
    }

    private func update(_ current: [InstanceClients.Instance]) {
        let gone = state.withLock { state in
            let numbers = Set(current.map(\.id))
            let gone = state.readers.filter { !numbers.contains($0.key) }
            for number in gone.keys { state.readers[number] = nil }
            for instance in current where state.readers[instance.id] == nil {
                state.readers[instance.id] = MessageLogReader(client: instance.client)
                state.new.append(instance.id)
            }
            return gone
        }
        for reader in gone.values { reader.finish() }
    }
}
