import ServiceKit

/// Who could have written a backup: its accounts and rights become those of the product.
enum BackupTrust {
    /// - Throws: ``BackupFailure`` if the folder of a backup, or its manifest, is not trusted.
    static func check(folder: String) throws(BackupFailure) {
        try check([folder, folder + "/" + BackupManifest.name])
    }

    /// - Throws: ``BackupFailure`` if another user than this one and root owns one of the paths or can write to it. A missing one is
    ///   reported by its reader.
    static func check(_ paths: [String]) throws(BackupFailure) {
        for path in paths {
            guard let problem = FilePermissions.foreignWriter(of: path) else { continue }
            throw BackupFailure(
                "\(path) \(problem), who could have changed the backup, with its accounts and rights. If you know who has written it, "
                    + "restore it with --trust")
        }
    }

    /// A warning about the folder that contains a backup; `nil` if only this user and root can replace the backup there.
    static func warning(aboutPlaceOf target: String) -> String? {
        let end = target.lastIndex(of: "/") ?? target.startIndex
        let parent = end == target.startIndex ? "/" : String(target[..<end])
        let writer = FilePermissions.foreignWriter(of: parent, mayBeSticky: true)
        return writer.map { "\(parent) \($0), who could replace the backup" }
    }
}
