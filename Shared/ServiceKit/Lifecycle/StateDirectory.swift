import FoundationEssentials
import Glibc

/// The folder with everything that is kept. It belongs to one user, and no other user has access.
package enum StateDirectory {
    /// What the product has put into a folder that it has worked with.
    private static let ownNames: Set = [
        "cube.sqlite", "data.lock", "fcm-emulator", "fcm-emulator.lock", "message-log.id", "message-log.sqlite", "msi.lock",
    ]

    /// Takes other users' access to a state directory that is there already.
    ///
    /// - Returns: What was changed, for the log; `nil` where nothing was.
    /// - Throws: ``ConfigurationError`` where other users have access and the folder is not the product's to change.
    package static func secure(_ path: String) throws -> String? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // One that is not there is made with the right mode; why one cannot be used is told where it is used.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        guard status.st_uid == geteuid() else {
            throw refusal(path, "belongs to the user \(status.st_uid), and its mode \(mode) lets others into it")
        }
        guard try isOurs(path) else {
            throw refusal(path, "holds something else, and its mode \(mode) lets other users into it")
        }
        guard fchmod(descriptor, 0o700) == 0 else {
            throw refusal(path, "has mode \(mode), which cannot be changed: \(String(cString: strerror(errno)))")
        }
        return "the state directory \(path) had mode \(mode), which let other users into it; it has mode 700 now"
    }

    /// Whether the product has made the folder, or at least all that is in it: not a user's home, and not `/var`.
    private static func isOurs(_ path: String) throws -> Bool {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return names.contains(where: ownNames.contains) || names.allSatisfy { ["log", "run"].contains($0) }
    }

    private static func refusal(_ path: String, _ problem: String) -> ConfigurationError {
        ConfigurationError(
            "\(Setting.stateDirectory.declaration.name): \(path) \(problem). Name a folder that the services' user alone has access "
                + "to, or make this one so: chmod 700")
    }
}
