import FoundationEssentials

/// The names below a folder: the synced names, and the changes since the last sync of their folder.
struct RecordedNames: Sendable {
    /// The object of a name.
    enum Entry: Sendable {
        case folder
        /// The file with this number.
        case file(Int)
    }

    /// One atomic change of a file system.
    private struct Change: Sendable {
        let event: Int
        var removed: String?
        var added: (path: String, entry: Entry)?
    }

    /// The names as the processes see them.
    private(set) var current: [String: Entry]
    /// The names that are certainly on the disk.
    private var synced: [String: Entry]
    /// Unsynced changes by folder, in order.
    private var unsynced: [String: [Change]] = [:]

    init(synced: [String: Entry]) {
        self.synced = synced
        current = synced
    }

    mutating func add(_ path: String, _ entry: Entry, event: Int) {
        current[path] = entry
        unsynced[Self.folder(of: path), default: []].append(Change(event: event, added: (path, entry)))
    }

    mutating func remove(_ path: String, event: Int) {
        current[path] = nil
        unsynced[Self.folder(of: path), default: []].append(Change(event: event, removed: path))
    }

    mutating func move(_ path: String, to new: String, event: Int) {
        guard let entry = current.removeValue(forKey: path) else { return }
        current[new] = entry
        let (source, target) = (Self.folder(of: path), Self.folder(of: new))
        if source == target {
            unsynced[target, default: []].append(Change(event: event, removed: path, added: (new, entry)))
        } else {
            unsynced[target, default: []].append(Change(event: event, added: (new, entry)))
            unsynced[source, default: []].append(Change(event: event, removed: path))
        }
    }

    /// A sync of a folder that began at this event has ended.
    mutating func sync(_ folder: String, begunAt event: Int) {
        guard let changes = unsynced[folder] else { return }
        let covered = changes.prefix { $0.event < event }
        for change in covered { Self.apply(change, to: &synced) }
        unsynced[folder] = Array(changes.dropFirst(covered.count))
    }

    /// The names after a power cut. A file without its folder is lost.
    func names(after cut: inout PowerCut, below root: String) -> [String: Entry] {
        var names = synced
        for (_, changes) in unsynced.sorted(by: { $0.key < $1.key }) {
            for change in changes.prefix(cut.remains(ofNameChanges: changes.count)) { Self.apply(change, to: &names) }
        }
        return names.filter { path, _ in
            var folder = Self.folder(of: path)
            while folder != root, folder != "/" {
                guard case .folder = names[folder] else { return false }
                folder = Self.folder(of: folder)
            }
            return true
        }
    }

    private static func apply(_ change: Change, to names: inout [String: Entry]) {
        if let path = change.removed { names[path] = nil }
        if let (path, entry) = change.added { names[path] = entry }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/"
    }
}
