import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#endif

/// The machines whose processes may use the bus, by name: the content of the file that `MSI_BUS_PEERS_FILE` names.
///
/// ```
/// # name          public key
/// hub-1.uni.edu   rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7
/// hub-2.uni.edu   Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID
/// ```
///
/// The name is the host as in the endpoints, so that a client knows the key of the service it connects to. A name may have several
/// keys, for example while a key is replaced.
package struct PeerList: Hashable, Sendable {
    private var keys: [String: [BusKey]] = [:]
    private var names: [BusKey: String] = [:]

    /// The problem of a list, without its words: one may be a secret key by mistake, with its line.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package init(parsing text: String) throws(Problem) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let name = words.first.map({ Self.name($0) }), !name.hasPrefix("#") else { continue }
            guard words.count == 2 else {
                throw Problem(description: "line \(index + 1): expected a name and a public key, found \(words.count) words")
            }
            guard BusKey(words[0]) == nil else {
                throw Problem(description: "line \(index + 1): expected a name and then a public key, found a key first")
            }
            guard let key = BusKey(words[1]) else {
                throw Problem(
                    description: "line \(index + 1): the key of \(name.prefix(100)) is not a public key of 40 characters (Z85)")
            }
            if let other = names[key], other != name {
                throw Problem(description: "line \(index + 1): \(name.prefix(100)) has the key of \(other.prefix(100))")
            }
            guard names.updateValue(name, forKey: key) == nil else { continue }
            keys[name, default: []].append(key)
        }
    }

    /// The keys of the machine with this name, in the order of the file.
    package func keys(of name: String) -> [BusKey] { keys[Self.name(name)] ?? [] }

    /// The name of the machine with this key.
    package func name(of key: BusKey) -> String? { names[key] }

    package var count: Int { names.count }

    /// Whether a machine has lost a key in another list.
    func hasKeys(missingIn other: PeerList) -> Bool { names.contains { other.names[$0.key] != $0.value } }

    /// A name as it is compared: in lower case, and an IPv6 address without brackets and in its shortest form.
    private static func name(_ text: some StringProtocol) -> String {
        let name = text.lowercased()
        let address = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        var binary = in6_addr()
        guard address.contains(":"), inet_pton(AF_INET6, address, &binary) == 1 else { return name }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            inet_ntop(AF_INET6, &binary, text.baseAddress, socklen_t(text.count)).map { String(cString: $0) } ?? address
        }
    }
}

/// The file with the list of peers, which is read again when it has changed.
struct PeerFile: Sendable {
    let path: String
    /// The file's state at the last check.
    private var seen: Signature?
    /// The file's state when it was last read.
    private var read: Signature?

    /// The maximum size: far more than a list of a thousand machines.
    private static let maxBytes = 1 << 20

    private struct Signature: Hashable, Sendable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let isRegular: Bool
        let (seconds, nanoseconds): (Int, Int)

        /// - Returns: `nil` if there is no such file.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
            isRegular = status.st_mode & S_IFMT == S_IFREG
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    init(path: String) {
        self.path = path
    }

    /// Reads the list.
    mutating func list() throws(PeerList.Problem) -> PeerList {
        read = Signature(of: path)
        seen = read
        // A pipe or a device could block the bus thread forever.
        guard let status = read, status.isRegular, status.size <= Self.maxBytes else {
            let reason = read == nil ? Self.reason(path) : "expected a file of at most \(Self.maxBytes) bytes"
            throw PeerList.Problem(description: "\(path) cannot be read: \(reason)")
        }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw PeerList.Problem(description: "\(path) cannot be read: \(Self.reason(path))")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PeerList.Problem(description: "\(path) is not UTF-8 text")
        }
        do throws(PeerList.Problem) {
            return try PeerList(parsing: text)
        } catch {
            throw PeerList.Problem(description: "\(path): \(error)")
        }
    }

    /// Whether the file has changed since it was read, and has not changed since the last call: an editor may still be writing it.
    mutating func hasChanged() -> Bool {
        let now = Signature(of: path)
        defer { seen = now }
        return now != read && now == seen
    }

    private static func reason(_ path: String) -> String {
        access(path, R_OK) == 0 ? "an error of the disk" : String(cString: strerror(errno))
    }
}
