import Glibc

/// Records which SQLite files a state directory has had: an empty file of the same name for each, in the folder `stores`. A store whose
/// file is lost must not be created again, as on a first start.
package enum KnownStores {
    /// The folder's name in the state directory.
    package static let folderName = "stores"

    /// - Throws: ``LostStore`` if the state directory has had the file, and the file is gone or empty.
    package static func requirePresent(_ file: String, in directory: String) throws(LostStore) {
        guard !isPresent(file, in: directory), access(mark(of: file, in: directory), F_OK) == 0 else { return }
        throw LostStore(
            "\(directory)/\(file) is gone, and was there before. msi restore brings a backup back; to begin without its data, remove "
                + mark(of: file, in: directory))
    }

    /// Records a file that has been opened. If the disk is full, a later start records it.
    package static func remember(_ file: String, in directory: String) {
        guard isPresent(file, in: directory), access(mark(of: file, in: directory), F_OK) != 0 else { return }
        do {
            try DurableFiles.makeFolder(directory + "/" + folderName)
            _ = try DurableFiles.create(mark(of: file, in: directory), "")
        } catch {
            // The next start tries again.
        }
    }

    /// Removes all records before the files are replaced. The new files are recorded when they are opened.
    package static func forgetAll(in directory: String) {
        for file in files(in: directory) { unlink(mark(of: file, in: directory)) }
    }

    /// The files that the state directory has had and that are gone.
    package static func lost(in directory: String) -> [String] {
        files(in: directory).filter { !isPresent($0, in: directory) }.sorted()
    }

    private static func files(in directory: String) -> [String] {
        DurableFiles.names(in: directory + "/" + folderName)
    }

    private static func mark(of file: String, in directory: String) -> String { "\(directory)/\(folderName)/\(file)" }

    private static func isPresent(_ file: String, in directory: String) -> Bool {
        var status = stat()
        return stat(directory + "/" + file, &status) == 0 && status.st_size > 0
    }
}

/// A file that existed before is gone. A service that started without it would hide the loss.
package struct LostStore: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
