import Base
import FoundationEssentials
import Glibc

/// The folder with all stored data. It belongs to one user, and no other user has access.
package enum StateDirectory {
    /// Files that show that the product has used a folder.
    private static let ownNames = Set(
        (ServiceEntry.all + [.phone]).flatMap(\.stateFiles) + StateLock.Part.allCases.map(\.rawValue))

    /// Checks that an existing state directory is the caller's own, and removes other users' access to it.
    ///
    /// - Parameter onlyChecks: Whether to check the directory without changing it. Root may check it for its owner.
    /// - Returns: A line for the log if the mode was changed, otherwise `nil`.
    /// - Throws: ``ConfigurationError`` if the folder belongs to another user, who could change what a root process reads and writes there;
    ///   or if other users have access and the folder is not the product's own.
    package static func secure(_ path: String, onlyChecks: Bool = false) throws -> String? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A missing folder is created later with the right mode. Other errors are reported when the folder is used.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        guard status.st_uid == geteuid() || onlyChecks && geteuid() == 0 else {
            let name = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
            throw ConfigurationError(
                "\(Setting.stateDirectory.declaration.name): \(path) belongs to the user \(name): run this as that user, such as with "
                    + "sudo -u \(name), or name a folder of this user")
        }
        guard status.st_mode & 0o077 != 0 else { return nil }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        guard try isOurs(path) else {
            throw refusal(path, "holds something else, and its mode \(mode) lets other users into it")
        }
        if onlyChecks { return nil }
        guard fchmod(descriptor, 0o700) == 0 else {
            throw refusal(path, "has mode \(mode), which cannot be changed: \(String(cString: strerror(errno)))")
        }
        return "the state directory \(path) had mode \(mode), which let other users into it; it has mode 700 now"
    }

    /// Whether the product has created the folder or all of its content. A user's home or `/var` is not its own.
    private static func isOurs(_ path: String) throws -> Bool {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return names.contains(where: ownNames.contains) || names.allSatisfy { ["log", "run"].contains($0) }
    }

    private static func refusal(_ path: String, _ problem: String) -> ConfigurationError {
        ConfigurationError(
            "\(Setting.stateDirectory.declaration.name): \(path) \(problem). Name a folder to which only the services' user has "
                + "access, or remove the access of others: chmod 700")
    }
}
