import Base
import FoundationEssentials
import Glibc
import ServiceKit

/// The state directory with what is in it, and the files with secrets: whether they exist, and who can read them.
struct FileCheck: Sendable {
    private let installation: Installation
    private let settings: SettingValues
    private let folder: String
    private let usesFiles: Bool

    /// - Throws: ``ConfigurationError``.
    init(installation: Installation, settings: SettingValues) throws {
        self.installation = installation
        self.settings = settings
        folder = try settings.value(.stateDirectory)
        usesFiles = try settings.optional(.databaseURL) == nil
    }

    var findings: [Finding] { stateDirectory + secretFiles }

    // MARK: The state directory

    private var stateDirectory: [Finding] {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            guard errno == EACCES else {
                return [.ok(.files, "there is no state directory \(folder) yet; the first start makes it")]
            }
            return [
                .failure(
                    .files, "the state directory \(folder) cannot be entered by this user",
                    "run msi doctor as its owner or as root")
            ]
        }
        guard access(folder, R_OK | X_OK) == 0 else {
            return [
                .failure(
                    .files, "the state directory \(folder) belongs to \(Self.user(status.st_uid)), and this user cannot read it",
                    "run msi doctor as \(Self.user(status.st_uid)) or as root")
            ]
        }
        var findings: [Finding] = []
        if status.st_mode & 0o077 != 0 {
            findings.append(
                .failure(
                    .files, "the state directory \(folder) has mode \(Self.mode(status)), so that other users can enter it",
                    "chmod 700 \(folder.shellQuoted)"))
        }
        if installation.layout == .packages, let user = getpwnam("msi"), user.pointee.pw_uid != status.st_uid {
            findings.append(
                .failure(
                    .files,
                    "the state directory \(folder) belongs to \(Self.user(status.st_uid)) instead of msi, the services' user",
                    "chown -R msi:msi \(folder.shellQuoted)"))
        }
        findings += own.compactMap(openAccess) + foreign(owner: status.st_uid) + missing + left
        return findings.isEmpty
            ? [.ok(.files, "the state directory \(folder) and its files are readable only by their owner")] : findings
    }

    /// The product's files and folders that are there.
    private var own: [String] {
        let states = (ServiceEntry.all + [.phone]).flatMap(\.stateFiles)
        let files = states.flatMap { $0.hasSuffix(".sqlite") ? [$0, $0 + "-wal", $0 + "-shm"] : [$0] }
        let made = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
            .filter { name in ["replaced-", "restore."].contains { name.hasPrefix($0) } }
        return (files + Self.secrets.keys.sorted() + ["log"] + made).map { "\(folder)/\($0)" }
            .filter { FileManager.default.fileExists(atPath: $0) }
    }

    /// The product's own files with secrets, and what they are.
    private static let secrets = [
        "token": "contains a token with all rights", "token.new": "contains a token with all rights",
        "password": "contains the first password of admin",
        "fcm-emulator/service-account.json": "contains the key of the emulator",
        "fcm-emulator/ca-key.pem": "contains the key of the emulator's certificates",
        "identity-emulator/keys.json": "contains the keys of the identity emulator",
    ]

    private func openAccess(_ path: String) -> Finding? {
        var status = stat()
        // It may be gone by now.
        guard lstat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        let what = Self.secrets[String(path.dropFirst(folder.count + 1))].map { $0 + ", and has" } ?? "has"
        return .failure(
            .files, "\(path) \(what) mode \(Self.mode(status)), which gives other users access",
            "chmod \(status.st_mode & S_IFMT == S_IFDIR ? 700 : 600) \(path.shellQuoted)")
    }

    /// What does not belong to the owner of the state directory: one finding for each other owner.
    private func foreign(owner: uid_t) -> [Finding] {
        let paths = own.reduce(into: [uid_t: [String]]()) { paths, path in
            var status = stat()
            if lstat(path, &status) == 0, status.st_uid != owner { paths[status.st_uid, default: []].append(path) }
        }
        let right = Self.user(owner)
        return paths.sorted { $0.key < $1.key }.map { other, paths in
            let theirs = "to \(Self.user(other)), and the state directory to \(right)"
            guard paths.count > 1 else {
                return .failure(
                    .files, "\(paths[0]) belongs \(theirs)", "chown \(right): \(paths[0].shellQuoted)")
            }
            return .failure(
                .files, "\(paths[0]) and \(paths.count - 1) more belong \(theirs)",
                "if the services run as \(right): chown -R \(right): \(folder.shellQuoted); if they run as \(Self.user(other)): "
                    + "chown \(Self.user(other)): \(folder.shellQuoted)")
        }
    }

    /// Findings about databases that are missing although others exist. Their services cannot report that: each creates an empty database
    /// at its start.
    private var missing: [Finding] {
        guard usesFiles else { return [] }
        let databases = installation.services.flatMap(\.stateFiles).filter { $0.hasSuffix(".sqlite") }
        let absent = databases.filter { !FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
        guard !absent.isEmpty, absent.count < databases.count else { return [] }
        return [
            .warning(
                .files,
                "\(absent.joined(separator: ", ")) of \(folder) \(absent.count == 1 ? "is" : "are") not there, and other databases are",
                "if it was there before, restore it from a backup before its service starts, which makes an empty one")
        ]
    }

    /// Files that should not stay.
    private var left: [Finding] {
        let password = folder + "/password"
        let draft = folder + "/token.new"
        var findings: [Finding] = []
        if FileManager.default.fileExists(atPath: password) {
            findings.append(
                .warning(
                    .files, "\(password) still holds the first password of admin",
                    "read it, and remove the file: rm \(password.shellQuoted)")
            )
        }
        if FileManager.default.fileExists(atPath: draft) {
            findings.append(
                .warning(
                    .files, "\(draft) was left by an interrupted msi account token",
                    "rm \(draft.shellQuoted), and make a new token: msi account token"))
        }
        return findings + leftByRestore
    }

    private var leftByRestore: [Finding] {
        func path(_ name: String) -> String? {
            FileManager.default.fileExists(atPath: "\(folder)/\(name)") ? "\(folder)/\(name)" : nil
        }
        var findings: [Finding] = []
        if let ready = path(StateLock.unfinishedRestore) {
            findings.append(
                .failure(
                    .files, "\(ready): msi restore was interrupted while it put the data into place, and no service starts",
                    "run the same msi restore again, with the same MSI_DATABASE_URL if it had one"))
        }
        for left in [StateLock.incompleteRestore, StateLock.doneRestore].compactMap(path) {
            findings.append(
                .warning(
                    .files, "\(left) was left by an msi restore that was killed, and has a copy of all data",
                    "if no msi restore is running: rm -r \(left.shellQuoted)"))
        }
        return findings
    }

    // MARK: Secrets

    /// The files that the settings name, and the credentials of systemd.
    private var secretFiles: [Finding] {
        let checked = Set(own)
        return settings.secretFiles.filter { !checked.contains($0.path) }.map { setting, path in
            var status = stat()
            guard stat(path, &status) == 0 else {
                let reason = String(cString: strerror(errno))
                return .failure(
                    .secrets, "\(setting.name): \(path) cannot be read: \(reason)", "put the file there, or correct the setting")
            }
            guard status.st_mode & 0o077 == 0 else {
                return .failure(
                    .secrets, "\(setting.name): \(path) has mode \(Self.mode(status)), which lets other users read a secret",
                    "chmod 600 \(path.shellQuoted); if others have had access, replace the secret")
            }
            guard access(path, R_OK) == 0 else {
                return .warning(
                    .secrets, "\(setting.name): \(path) belongs to \(Self.user(status.st_uid)), and this user cannot read it",
                    "run msi doctor as the user of the services or as root")
            }
            return .ok(.secrets, "\(setting.name): \(path) is readable only by its owner")
        }
    }

    private static func mode(_ status: stat) -> String { String(status.st_mode & 0o777, radix: 8) }

    private static func user(_ id: uid_t) -> String { getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? String(id) }
}
