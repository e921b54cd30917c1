import FoundationEssentials
import Glibc

/// The content of a folder on a disk: all changes by all processes, and which of them are safe from a power cut.
///
/// It follows POSIX's guarantees: a file's content is safe after a sync of the file, and its name after a sync of the folder.
package struct RecordedDisk: Sendable {
    private let folder: String
    private var files: [RecordedFile] = []
    /// The current file of an inode. Inode numbers are reused.
    private var fileOfInode: [UInt64: Int] = [:]
    private var names: RecordedNames
    /// When each running sync began.
    private var begunSyncs: [UInt64: Int] = [:]
    private var events = 0

    /// Starts with the folder's current content, all of it safe.
    ///
    /// - Parameter folder: An absolute path without symbolic links, the same as the recorder's.
    package init(_ folder: String) throws {
        self.folder = folder
        var entries: [String: RecordedNames.Entry] = [:]
        for (path, state) in try Self.contents(of: folder) {
            switch state.st_mode & S_IFMT {
            case S_IFDIR: entries[path] = .folder
            case S_IFREG:
                entries[path] = .file(files.count)
                fileOfInode[UInt64(state.st_ino)] = files.count
                files.append(RecordedFile(synced: [UInt8](try Data(contentsOf: URL(filePath: path)))))
            default: break
            }
        }
        names = RecordedNames(synced: entries)
    }

    /// Applies the records up to this length of the log.
    package mutating func replay(_ log: WriteLog, until length: Int = .max) {
        for event in log.events(until: length) { replay(event.kind) }
    }

    private mutating func replay(_ event: WriteLog.Event.Kind) {
        events += 1
        switch event {
        case .write(let inode, let offset, let data): change(inode, .write(offset: offset, data: data))
        case .truncate(let inode, let size): change(inode, .truncate(size: size))
        case .create(let inode, let path):
            fileOfInode[inode] = files.count
            names.add(path, .file(files.count), event: events)
            files.append(RecordedFile())
        case .makeFolder(let path): names.add(path, .folder, event: events)
        case .remove(let path): names.remove(path, event: events)
        case .rename(let path, let new): names.move(path, to: new, event: events)
        case .link(let path, let new):
            if let entry = names.current[path] { names.add(new, entry, event: events) }
        case .syncBegin(let number): begunSyncs[number] = events
        case .syncEnd(let number, let inode, let path):
            guard let begin = begunSyncs.removeValue(forKey: number) else { return }
            if let file = fileOfInode[inode], !isFolder(path) {
                files[file].sync(begunAt: begin)
            } else {
                names.sync(path, begunAt: begin)
            }
        }
    }

    private func isFolder(_ path: String) -> Bool {
        if path == folder { return true }
        guard case .folder = names.current[path] else { return false }
        return true
    }

    private mutating func change(_ inode: UInt64, _ change: RecordedFile.Change) {
        guard let file = fileOfInode[inode] else { return }
        files[file].change(change, event: events)
    }

    /// Replaces the folder's content by the content after a power cut. Sockets stay: they are not recorded.
    package func cutPower(_ cut: PowerCut) throws {
        var cut = cut
        let left = names.names(after: &cut, below: folder).sorted { $0.key < $1.key }
        // In reverse order: a folder's content comes after the folder.
        for (path, state) in try Self.contents(of: folder).reversed() {
            switch state.st_mode & S_IFMT {
            case S_IFREG: unlink(path)
            // A folder with a socket stays.
            case S_IFDIR: rmdir(path)
            default: break
            }
        }
        for (path, entry) in left {
            switch entry {
            case .folder:
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            case .file(let number):
                try Data(files[number].content(after: &cut)).write(to: URL(filePath: path))
                chmod(path, 0o600)
            }
        }
    }

    /// Everything below a folder, each folder before its content.
    private static func contents(of folder: String) throws -> [(path: String, state: stat)] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().compactMap { path in
            let path = folder + "/" + path
            var state = stat()
            return lstat(path, &state) == 0 ? (path, state) : nil
        }
    }
}
