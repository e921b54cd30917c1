package import Schemas
package import Time

extension UnixMilliseconds: BSONConvertible {}

extension Milliseconds: BSONConvertible {}

extension Seconds: BSONConvertible {}
