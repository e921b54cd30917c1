import FoundationEssentials
import Glibc

/// A folder as it is on the disk: what every process that writes to it has changed, and what of that a power cut cannot take.
///
/// It follows what POSIX promises and no more: a file's content is safe once the file was synced, and its name once the folder was.
package struct RecordedDisk: Sendable {
    private let folder: String
    private var files: [RecordedFile] = []
    /// The file that has an inode now: the numbers are used again.
    private var fileOfInode: [UInt64: Int] = [:]
    private var names: RecordedNames
    /// When each sync that is under way began.
    private var begunSyncs: [UInt64: Int] = [:]
    private var events = 0

    /// Starts from what is in the folder, all of it safe.
    ///
    /// - Parameter folder: An absolute path without symbolic links: the one that the recorder was told.
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

    /// Takes over what was recorded until the log had this length.
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

    /// Puts what a power cut leaves into the place of what is in the folder. Sockets stay: they are not recorded.
    package func cutPower(_ cut: PowerCut) throws {
        var cut = cut
        let left = names.names(after: &cut, below: folder).sorted { $0.key < $1.key }
        // The last first: what is in a folder comes after it.
        for (path, state) in try Self.contents(of: folder).reversed() {
            switch state.st_mode & S_IFMT {
            case S_IFREG: unlink(path)
            // One that holds a socket stays.
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

    /// Everything below a folder: a folder before what is in it.
    private static func contents(of folder: String) throws -> [(path: String, state: stat)] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().compactMap { path in
            let path = folder + "/" + path
            var state = stat()
            return lstat(path, &state) == 0 ? (path, state) : nil
        }
    }
}
