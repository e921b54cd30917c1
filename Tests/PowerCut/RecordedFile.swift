import FoundationEssentials

/// The content of one file: the synced content, and the changes since the last sync.
struct RecordedFile: Sendable {
    enum Change: Sendable {
        case write(offset: Int, data: Data)
        case truncate(size: Int)
    }

    /// The content that is certainly on the disk.
    private(set) var synced: [UInt8]
    /// Unsynced changes in order, with the numbers of their events.
    private(set) var unsynced: [(event: Int, change: Change)] = []

    init(synced: [UInt8] = []) {
        self.synced = synced
    }

    mutating func change(_ change: Change, event: Int) {
        unsynced.append((event, change))
    }

    /// A sync that began at this event has ended.
    mutating func sync(begunAt event: Int) {
        let covered = unsynced.prefix { $0.event < event }.count
        for (_, change) in unsynced.prefix(covered) { Self.apply(change, to: &synced) }
        unsynced.removeFirst(covered)
    }

    func content(after cut: inout PowerCut) -> [UInt8] {
        var content = synced
        for (_, change) in unsynced {
            if let kept = cut.remains(of: change) { Self.apply(kept, to: &content) }
        }
        return content
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
        switch change {
        case .truncate(let size):
            if size <= content.count {
                content.removeLast(content.count - size)
            } else {
                content += [UInt8](repeating: 0, count: size - content.count)
            }
        case .write(let offset, let data):
            let missing = offset + data.count - content.count
            if missing > 0 { content += [UInt8](repeating: 0, count: missing) }
            content.withUnsafeMutableBytes { bytes in
                _ = data.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + data.count]))
            }
        }
    }
}
