/// The server key of the legacy API, in the form that the Firebase console once issued.
struct ServerKey: Sendable {
    private static let file = "server-key.txt"
    /// The administrator's key, as for access tokens.
    private static let administrator = "owner"

    private let key: [UInt8]

    /// Reads the key, or creates one on the first start.
    ///
    /// - Throws: ``StateFileError``.
    init(in folder: StateFolder) throws {
        if let stored = try folder.read(Self.file) {
            key = Array(stored.split(separator: UInt8(ascii: "\n")).first ?? [])
            guard !key.isEmpty else { throw StateFileError.damaged(folder.path(of: Self.file), "empty") }
        } else {
            // A registration token's random part has the same alphabet and look.
            let random = RegistrationToken.new(for: .android)
            key = Array("AAAA\(random.prefix(7)):\(random.drop { $0 != ":" }.dropFirst())".utf8)
            try folder.write(key + [UInt8(ascii: "\n")], to: Self.file, mode: 0o600)
        }
    }

    /// Whether an `Authorization` header has the key.
    func isShown(by header: String?) -> Bool {
        guard let header, header.hasPrefix("key=") else { return false }
        let shown = header.dropFirst(4)
        return shown == Self.administrator || Array(shown.utf8) == key
    }
}
