import DurableFiles
import FoundationEssentials
import Glibc
import ServiceKit

/// The room for the archive, by the limits at which the message log warns and refuses messages.
struct DiskCheck: Sendable {
    private let folder: String
    /// Of the archive, in bytes; `nil` if there is none.
    private let limit: Int64?
    /// Whether the data is in MongoDB, perhaps on another disk.
    private let isDataElsewhere: Bool

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        folder = try settings.value(.stateDirectory)
        isDataElsewhere = try settings.optional(.databaseURL) != nil
        limit = isDataElsewhere ? nil : try settings.optional(.messageLogStorageLimit)
    }

    var findings: [Finding] { [disk] + archive }

    private var disk: Finding {
        let path = Self.existing(folder)
        do {
            return Self.finding(try DiskSpace(of: path), at: path, isDataElsewhere: isDataElsewhere)
        } catch {
            return .warning(.disk, "\(error)", "df -h \(path)")
        }
    }

    /// - Parameters:
    ///   - space: The space of the disk with the folder.
    ///   - isDataElsewhere: Whether the services refuse no messages when it is full.
    static func finding(_ space: DiskSpace, at path: String, isDataElsewhere: Bool = false) -> Finding {
        if isDataElsewhere {
            let found = "the local disk of \(path) has \(megabytes(space.free)) free; the data is in MongoDB"
            return space.free <= 2 * space.reserve ? .warning(.disk, found, "free some space") : .ok(.disk, found)
        }
        let found =
            "the disk of \(path) has \(megabytes(space.free)) free, and \(megabytes(space.reserve)) are a reserve for accepted messages"
        let advice = "free some space, set MSI_MESSAGE_RETENTION, or use a larger disk"
        if space.free <= space.reserve { return .failure(.disk, found + ": new messages are refused", advice) }
        if space.free <= 2 * space.reserve { return .warning(.disk, found, advice) }
        return .ok(.disk, found)
    }

    private var archive: [Finding] {
        guard let limit else { return [] }
        let file = folder + "/message-log.sqlite"
        // The message log does not count free pages either.
        let free = SQLiteHeader(of: file)?.freeBytes ?? 0
        let size = Self.size(of: file) - free + Self.size(of: file + "-wal")
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
