import DurableFiles
import FoundationEssentials
import Glibc
import ServiceKit

/// The room for the archive, by the limits at which the message log warns and refuses messages.
struct DiskCheck: Sendable {
    private let folder: String
    /// Of the archive, in bytes; `nil` if there is none.
    private let limit: Int64?

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        folder = try settings.value(.stateDirectory)
        limit = try settings.optional(.databaseURL) == nil ? settings.optional(.messageLogStorageLimit) : nil
    }

    var findings: [Finding] { [disk] + archive }

    private var disk: Finding {
        let path = Self.existing(folder)
        do {
            return Self.finding(try DiskSpace(of: path), at: path)
        } catch {
            return .warning(.disk, "\(error)", "df -h \(path)")
        }
    }

    /// - Parameter space: The space of the disk with the folder.
    static func finding(_ space: DiskSpace, at path: String) -> Finding {
        let found =
            "the disk of \(path) has \(megabytes(space.free)) free, and \(megabytes(space.reserve)) are a reserve for accepted messages"
        let advice = "free some space, set MSI_MESSAGE_RETENTION, or use a larger disk"
        if space.free <= space.reserve { return .failure(.disk, found + ": new messages are refused", advice) }
        if space.free <= 2 * space.reserve { return .warning(.disk, found, advice) }
        return .ok(.disk, found)
    }

    private var archive: [Finding] {
        guard let limit else { return [] }
        let size = ["", "-wal"].reduce(Int64(0)) { $0 + Self.size(of: folder + "/message-log.sqlite" + $1) }
        let percent = Double(size) / Double(limit) * 100
        let found =
            "the archive has \(Self.megabytes(size)), \(Int(percent)) % of \(Setting.messageLogStorageLimit.declaration.name)"
        let advice = "raise the limit, or set \(Setting.messageRetention.declaration.name)"
        if percent >= 95 { return [.failure(.disk, found + ": new messages are refused", advice)] }
        if percent >= 90 { return [.warning(.disk, found, advice)] }
        return [.ok(.disk, found)]
    }

    private static func megabytes(_ bytes: Int64) -> String { "\(bytes >> 20) MiB" }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The path, or its nearest parent that exists.
    private static func existing(_ path: String) -> String {
        var url = URL(filePath: path)
        while url.path(percentEncoded: false) != "/", !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
            url = url.deletingLastPathComponent()
        }
        return url.path(percentEncoded: false)
    }
}
