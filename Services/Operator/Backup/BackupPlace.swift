import ArgumentParser
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// The place of a new backup.
struct BackupPlace {
    /// An absolute path, without a slash at its end.
    let target: String

    /// Refuses a place at which the backup would be lost with other data, or would not be where the operator expects it.
    ///
    /// - Throws: ``BackupFailure``.
    func check(stateDirectory: String) throws(BackupFailure) {
        let parent = try realParent()
        if let state = Self.realPath(stateDirectory), Self.folders(from: parent).contains(state) {
            throw BackupFailure(
                "\(target) is inside the state directory \(stateDirectory), with which it would be lost; choose a folder on another disk"
            )
        }
        if let backup = Self.folders(from: parent).first(where: BackupManifest.isInFolder) {
            throw BackupFailure("\(target) is inside the backup \(backup); choose a folder beside it")
        }
        try Self.checkAccess(to: parent)
    }

    /// The folder that is to contain the backup, without links. It is not made: while a disk is not mounted, the backup would go to the
    /// disk below.
    private func realParent() throws(BackupFailure) -> String {
        let end = target.lastIndex(of: "/") ?? target.startIndex
        let parent = end == target.startIndex ? "/" : String(target[..<end])
        guard let real = Self.realPath(parent) else {
            guard errno == ENOENT else { throw BackupFailure("\(parent) cannot be used: \(String(cString: strerror(errno)))") }
            throw BackupFailure("\(parent) does not exist; is its disk mounted? \(Self.advice(toMake: parent))")
        }
        var status = stat()
        guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw BackupFailure("\(parent) is no folder") }
        return real
    }

    /// How to make a folder that this user can write to. With the packages root becomes the services' user, to whom a folder that root
    /// makes would not belong.
    private static func advice(toMake folder: String) -> String {
        let user = geteuid()
        guard user != 0, name(of: user) == "msi" else { return "mkdir -p \(folder.shellQuoted) makes it" }
        return "as root: install -d -o msi -g msi -m 700 \(folder.shellQuoted)"
    }

    private static func checkAccess(to folder: String) throws(BackupFailure) {
        guard access(folder, W_OK | X_OK) != 0 else { return }
        let reason = errno
        var status = stat()
        guard reason == EACCES, stat(folder, &status) == 0 else {
            throw BackupFailure("\(folder) cannot be written to: \(String(cString: strerror(reason)))")
        }
        throw BackupFailure(
            "\(folder) belongs to \(name(of: status.st_uid)), and this user (\(name(of: geteuid()))) cannot write to it")
    }

    private static func name(of user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? String(user)
    }

    /// - Returns: `nil` with the reason in `errno`.
    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// A folder and all around it, from the inner one to the root.
    private static func folders(from path: String) -> [String] {
        let parts = path.split(separator: "/")
        return (0...parts.count).reversed().map { "/" + parts[..<$0].joined(separator: "/") }
    }
}

/// Why a backup could not be written, read or restored.
struct BackupFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// How `msi backup` and `msi restore` report errors.
enum BackupErrors {
    /// - Throws: `ExitCode`.
    static func reported(_ progress: ProgressLine, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let code as ExitCode {
            throw code
        } catch {
            progress.clear()
            StandardError.write("msi: \((error as? CommandFailure)?.message ?? "\(error)")\n")
            throw ExitCode(error is ConfigurationError ? EX_CONFIG : EXIT_FAILURE)
        }
    }

    /// A path on the command line, without a slash at its end.
    static func absolute(_ path: String) throws -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let trimmed = whole.reversed().drop { $0 == "/" }.reversed()
        guard !trimmed.isEmpty else { throw BackupFailure("\(path) is no folder for a backup") }
        return String(trimmed)
    }
}
