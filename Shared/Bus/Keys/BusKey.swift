import CZeroMQ

/// A public key of CURVE, ZeroMQ's encryption (https://rfc.zeromq.org/spec/26/).
package struct BusKey: Hashable, Sendable, CustomStringConvertible {
    /// The key's 32 bytes in Z85 (https://rfc.zeromq.org/spec/32/): 40 printable characters without quotes, commas and blanks.
    package let text: String

    static let (byteCount, textLength) = (32, 40)

    /// - Returns: `nil` if the text is not a key.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard text.utf8.count == Self.textLength else { return nil }
        let isKey = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.byteCount) {
            zmq_z85_decode($0.baseAddress, text) != nil
        }
        guard isKey else { return nil }
        self.text = text
    }

    /// - Returns: `nil` if these are not 32 bytes.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount, let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
        text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.textLength + 1) { text in
            zmq_z85_encode(text.baseAddress, start, bytes.count)
            return String(decoding: UnsafeRawBufferPointer(text).prefix(Self.textLength), as: UTF8.self)
        }
    }

    package var description: String { text }
}

/// The key pair of a machine. All processes of the machine have the same one.
package struct BusKeyPair: Sendable {
    package let publicKey: BusKey
    /// Z85 as well. It must not reach a log or an error.
    package let secret: String

    /// Makes a new pair.
    ///
    /// - Throws: ``BusError`` if this libzmq was built without CURVE.
    package static func make() throws(BusError) -> BusKeyPair {
        let length = BusKey.textLength
        let secret = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2 * (length + 1)) { buffer in
            let (publicText, secretText) = (buffer.baseAddress, buffer.baseAddress.map { $0 + length + 1 })
            guard zmq_curve_keypair(publicText, secretText) == 0 else { return "" }
            return String(decoding: UnsafeRawBufferPointer(buffer)[(length + 1)..<(2 * length + 1)], as: UTF8.self)
        }
        guard let pair = BusKeyPair(secret: secret) else {
            throw BusError(.system, "ZeroMQ cannot make keys: \(ZeroMQFault.last)")
        }
        return pair
    }

    /// - Parameter secret: The secret key; blanks and line ends around it are ignored.
    /// - Returns: `nil` if it is not a key.
    package init?(secret: String) {
        let secret = secret.split(whereSeparator: \.isWhitespace)
        guard secret.count == 1, let secret = BusKey(secret[0])?.text else { return nil }
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: BusKey.textLength + 1) { buffer in
            guard zmq_curve_public(buffer.baseAddress, secret) == 0 else { return "" }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(BusKey.textLength), as: UTF8.self)
        }
        guard let publicKey = BusKey(text) else { return nil }
        self.publicKey = publicKey
        self.secret = secret
    }
}
