import CZeroMQ

extension ZeroMQSocket {
    /// Encrypts the connections that a listening socket accepts from now on. The bus's ``PeerGate`` decides about each.
    func setKeys(ofServer own: BusKeyPair) throws(BusError) {
        try set(ZMQ_CURVE_SERVER, Int32(1))
        try set(ZMQ_CURVE_SECRETKEY, own.secret)
        try set(ZMQ_ZAP_DOMAIN, "msi")
    }

    /// Encrypts the connections that the socket makes from now on.
    ///
    /// - Parameter server: The key that the service must have.
    func setKeys(ofClient own: BusKeyPair, server: BusKey) throws(BusError) {
        try set(ZMQ_CURVE_SERVERKEY, server.text)
        try set(ZMQ_CURVE_PUBLICKEY, own.publicKey.text)
        try set(ZMQ_CURVE_SECRETKEY, own.secret)
    }
}
