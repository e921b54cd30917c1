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
