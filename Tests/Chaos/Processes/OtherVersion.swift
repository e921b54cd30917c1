import FoundationEssentials
import ServiceKit
import TestSupport

/// Which of the two versions of a mixed run a process runs.
enum ProductVersion: Hashable, Sendable {
    /// The version that this program was built with.
    case this
    case other

    var opposite: ProductVersion { self == .this ? .other : .this }
}

/// Another version of the product, whose executables run beside those of this one.
struct OtherVersion: Hashable, Sendable {
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder of its executables and of the files beside them.
    let executables: URL
    /// The path of that folder.
    var folder: String { executables.path(percentEncoded: false) }
    /// Its processes, in the order of their start. It may lack services that this version has.
    let parts: [Part]

    /// - Parameters:
    ///   - folder: The folder that `deploy/build` prints in a checkout of that version.
    ///   - own: The folder of this version.
    init(in folder: String, beside own: URL = ServiceProcess.executables) throws(Unusable) {
        let executables = URL(filePath: folder, directoryHint: .isDirectory)
        guard executables.resolvingSymlinksInPath().pathComponents != own.resolvingSymlinksInPath().pathComponents else {
            throw Unusable(description: "\(folder) has the executables of this version, expected those of another one")
        }
        parts = Part.ofProduct.filter { part in
            guard let file = part.service.map({ executables.appending(path: $0.executable) }) else { return false }
            return FileManager.default.isExecutableFile(atPath: file.path(percentEncoded: false))
        }
        guard !parts.isEmpty else {
            throw Unusable(
                description: "\(folder) has no executable of a service, expected the folder that deploy/build prints in a "
                    + "checkout of another version")
        }
        self.executables = executables
    }

    /// The version with which a process starts: every second one with the other version, so one of two instances. An odd seed
    /// makes it those in between, so each service's database is made by either version.
    func first(of part: Part, seed: UInt64) -> ProductVersion {
        guard let index = parts.firstIndex(of: part) else { return .this }
        return (UInt64(index) + seed).isMultiple(of: 2) ? .other : .this
    }
}
