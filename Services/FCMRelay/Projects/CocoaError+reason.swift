import FoundationEssentials

extension CocoaError {
    /// Why a file could not be read.
    var reason: String {
        switch code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "no permission"
        default: "the system's error \(code.rawValue)"
        }
    }
}
