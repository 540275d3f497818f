// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Integers are exact modulo 2^width; what C leaves undefined is defined.

// CHECK:@wrapping#0: tensor<2xi8> = [-128, 127]
// CHECK:@wrapping#1: tensor<2xui8> = [156, 1]
// CHECK:@wrapping#2: tensor<1xi64> = [1]
func.func @wrapping() -> (tensor<2xi8>, tensor<2xui8>, tensor<1xi64>) {
  %a = amp.constant dense<[127, -128]> : tensor<2xi8>
  %b = amp.constant dense<[1, -1]> : tensor<2xi8>
  %0 = amp.add %a, %b : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %c = amp.constant dense<[200, 0]> : tensor<2xui8>
  %d = amp.constant dense<[100, 1]> : tensor<2xui8>
  %1 = amp.sub %d, %c : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  %e = amp.constant dense<9223372036854775807> : tensor<1xi64>
  %2 = amp.mul %e, %e : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %0, %1, %2 : tensor<2xi8>, tensor<2xui8>, tensor<1xi64>
}

// CHECK:@division#0: tensor<5xi32> = [3, -3, -3, 0, -2147483648]
// CHECK:@division#1: tensor<1xi64> = [-9223372036854775808]
// CHECK:@division#2: tensor<2xui64> = [9223372036854775807, 0]
func.func @division() -> (tensor<5xi32>, tensor<1xi64>, tensor<2xui64>) {
  %a = amp.constant dense<[7, -7, 7, 5, -2147483648]> : tensor<5xi32>
  %b = amp.constant dense<[2, 2, -2, 0, -1]> : tensor<5xi32>
  %0 = amp.div %a, %b : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %c = amp.constant dense<-9223372036854775808> : tensor<1xi64>
  %d = amp.constant dense<-1> : tensor<1xi64>
  %1 = amp.div %c, %d : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %e = amp.constant dense<[18446744073709551615, 7]> : tensor<2xui64>
  %f = amp.constant dense<[2, 0]> : tensor<2xui64>
  %2 = amp.div %e, %f : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
  return %0, %1, %2 : tensor<5xi32>, tensor<1xi64>, tensor<2xui64>
}

// CHECK:@remainders#0: tensor<5xi32> = [1, -1, 1, 0, 0]
// CHECK:@remainders#1: tensor<5xi32> = [1, 2, -2, 0, 0]
func.func @remainders() -> (tensor<5xi32>, tensor<5xi32>) {
  %a = amp.constant dense<[7, -7, 7, 5, -2147483648]> : tensor<5xi32>
  %b = amp.constant dense<[3, 3, -3, 0, -1]> : tensor<5xi32>
  %0 = amp.mod %a, %b {fmod = true} : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %1 = amp.mod %a, %b : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  return %0, %1 : tensor<5xi32>, tensor<5xi32>
}

// CHECK:@powers#0: tensor<6xi32> = [81, 0, 1, -1, 1, 0]
func.func @powers() -> tensor<6xi32> {
  %a = amp.constant dense<[3, 2, 1, -1, -1, 2]> : tensor<6xi32>
  %b = amp.constant dense<[4, -1, -5, -3, -4, 32]> : tensor<6xi32>
  %y = amp.pow %a, %b : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  return %y : tensor<6xi32>
}

// CHECK:@unsigned_order#0: tensor<2xui64> = [18446744073709551615, 4]
// CHECK:@unsigned_order#1: tensor<2xi1> = [false, true]
// CHECK:@unsigned_order#2: tensor<2xui8> = [255, 0]
func.func @unsigned_order() -> (tensor<2xui64>, tensor<2xi1>, tensor<2xui8>) {
  %a = amp.constant dense<[18446744073709551615, 3]> : tensor<2xui64>
  %b = amp.constant dense<[1, 4]> : tensor<2xui64>
  %0 = amp.max %a, %b : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
  %1 = amp.compare %a, %b {predicate = #amp.predicate<lt>} : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
  %c = amp.constant dense<[255, 0]> : tensor<2xui8>
  %2 = amp.relu %c : (tensor<2xui8>) -> tensor<2xui8>
  return %0, %1, %2 : tensor<2xui64>, tensor<2xi1>, tensor<2xui8>
}

// CHECK:@bits#0: tensor<2xi8> = [8, 1]
// CHECK:@bits#1: tensor<2xi8> = [6, -2]
// CHECK:@bits#2: tensor<3xi1> = [true, true, false]
// CHECK:@bits#3: tensor<2xi8> = [-13, 0]
func.func @bits() -> (tensor<2xi8>, tensor<2xi8>, tensor<3xi1>, tensor<2xi8>) {
  %a = amp.constant dense<[12, -1]> : tensor<2xi8>
  %b = amp.constant dense<[10, 1]> : tensor<2xi8>
  %0 = amp.and %a, %b : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %1 = amp.xor %a, %b : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %c = amp.constant dense<[true, false, false]> : tensor<3xi1>
  %d = amp.constant dense<[true, true, false]> : tensor<3xi1>
  %2 = amp.or %c, %d : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  %3 = amp.bitwise_not %a : (tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %2, %3 : tensor<2xi8>, tensor<2xi8>, tensor<3xi1>, tensor<2xi8>
}

// The right shift is logical, also of negative numbers.
// CHECK:@shifts#0: tensor<4xi8> = [-1, -16, 0, 0]
// CHECK:@shifts#1: tensor<4xi8> = [-1, 15, 0, 0]
func.func @shifts() -> (tensor<4xi8>, tensor<4xi8>) {
  %a = amp.constant dense<[-1, -1, -1, 3]> : tensor<4xi8>
  %b = amp.constant dense<[0, 4, 8, -1]> : tensor<4xi8>
  %0 = amp.shift_left %a, %b : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %1 = amp.shift_right %a, %b : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}

// CHECK:@packed_booleans#0: tensor<11xi1> = [false, true, false, false, true, true, false, true, false, false, true]
func.func @packed_booleans() -> tensor<11xi1> {
  %a = amp.constant dense<[true, false, true, true, false, false, true, false, true, true, false]> : tensor<11xi1>
  %y = amp.logical_not %a : (tensor<11xi1>) -> tensor<11xi1>
  return %y : tensor<11xi1>
}

// CHECK:@absolute#0: tensor<2xi8> = [-128, 5]
// CHECK:@absolute#1: tensor<1xui8> = [200]
func.func @absolute() -> (tensor<2xi8>, tensor<1xui8>) {
  %a = amp.constant dense<[-128, -5]> : tensor<2xi8>
  %0 = amp.abs %a : (tensor<2xi8>) -> tensor<2xi8>
  %b = amp.constant dense<200> : tensor<1xui8>
  %1 = amp.abs %b : (tensor<1xui8>) -> tensor<1xui8>
  return %0, %1 : tensor<2xi8>, tensor<1xui8>
}
